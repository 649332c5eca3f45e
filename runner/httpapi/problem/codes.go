package problem

import (
	"net/http"
	"time"

	"sandboxrun/runner/document"
)

// The codes of errors. They are part of the contract: more may come, none is renamed.
const (
	CodeMalformed         = "malformed"
	CodeInvalid           = "invalid"
	CodeBadParameter      = "bad_parameter"
	CodeUnauthorized      = "unauthorized"
	CodeForeignOrigin     = "foreign_origin"
	CodeForeignPeer       = "foreign_peer"
	CodeRepoNotAllowed    = "repo_not_allowed"
	CodeNotFound          = "not_found"
	CodeMethodNotAllowed  = "method_not_allowed"
	CodeNotAcceptable     = "not_acceptable"
	CodeTimeout           = "timeout"
	CodeConflict          = "conflict"
	CodeTaskIDReused      = "task_id_reused"
	CodeSessionBusy       = "session_busy"
	CodeAlreadyAnswered   = "already_answered"
	CodeExpired           = "expired"
	CodeDigestMismatch    = "digest_mismatch"
	CodeRunEnded          = "run_ended"
	CodeNotEnded          = "not_ended"
	CodeDirty             = "dirty"
	CodeApplyConflict     = "apply_conflict"
	CodeForgotten         = "forgotten"
	CodeLengthRequired    = "length_required"
	CodeTooLarge          = "too_large"
	CodeURITooLong        = "uri_too_long"
	CodeRange             = "range_not_satisfiable"
	CodeUnsupportedMedia  = "unsupported_media_type"
	CodeForeignHost       = "foreign_host"
	CodeTooManyRequests   = "too_many_requests"
	CodeInternal          = "internal"
	CodeEngineUnavailable = "engine_unavailable"
	CodeImageMissing      = "image_missing"
	CodeQueueFull         = "queue_full"
	CodeQueueTimeout      = "queue_timeout"
	CodeServerStopping    = "server_stopping"
	CodeDiskFull          = "disk_full"
)

type kind struct {
	status     int
	class      document.ErrorType
	title      string
	retryAfter time.Duration // 0 where waiting does not help
}

const (
	input  = document.ErrorInvalidInput
	bridge = document.ErrorBridgeFailure
)

var kinds = map[string]kind{
	CodeMalformed:         {http.StatusBadRequest, input, "not one strict JSON document", 0},
	CodeInvalid:           {http.StatusBadRequest, input, "the document is not valid", 0},
	CodeBadParameter:      {http.StatusBadRequest, input, "a parameter is not valid", 0},
	CodeUnauthorized:      {http.StatusUnauthorized, input, "no valid token", 0},
	CodeForeignOrigin:     {http.StatusForbidden, input, "called from another site", 0},
	CodeForeignPeer:       {http.StatusForbidden, input, "called by another user", 0},
	CodeRepoNotAllowed:    {http.StatusForbidden, input, "the repository is not allowed", 0},
	CodeNotFound:          {http.StatusNotFound, input, "not found", 0},
	CodeMethodNotAllowed:  {http.StatusMethodNotAllowed, input, "the path does not have this method", 0},
	CodeNotAcceptable:     {http.StatusNotAcceptable, input, "not available in this media type", 0},
	CodeTimeout:           {http.StatusServiceUnavailable, bridge, "no answer in time", 5 * time.Second},
	CodeConflict:          {http.StatusConflict, input, "not possible now", 0},
	CodeTaskIDReused:      {http.StatusConflict, input, "the task id belongs to another task", 0},
	CodeSessionBusy:       {http.StatusConflict, input, "the session is busy", 0},
	CodeAlreadyAnswered:   {http.StatusConflict, input, "already answered", 0},
	CodeExpired:           {http.StatusConflict, input, "the time for an answer is over", 0},
	CodeDigestMismatch:    {http.StatusConflict, input, "the answer is about something else", 0},
	CodeRunEnded:          {http.StatusConflict, input, "the run has ended", 0},
	CodeNotEnded:          {http.StatusConflict, input, "the run has not ended", 0},
	CodeDirty:             {http.StatusConflict, input, "the repository has uncommitted changes", 0},
	CodeApplyConflict:     {http.StatusConflict, input, "the change does not apply", 0},
	CodeForgotten:         {http.StatusGone, input, "the run was removed", 0},
	CodeLengthRequired:    {http.StatusLengthRequired, input, "no length", 0},
	CodeTooLarge:          {http.StatusRequestEntityTooLarge, input, "too large", 0},
	CodeURITooLong:        {http.StatusRequestURITooLong, input, "the address is too long", 0},
	CodeRange:             {http.StatusRequestedRangeNotSatisfiable, input, "no such range", 0},
	CodeUnsupportedMedia:  {http.StatusUnsupportedMediaType, input, "not JSON", 0},
	CodeForeignHost:       {http.StatusMisdirectedRequest, input, "not a name of this server", 0},
	CodeTooManyRequests:   {http.StatusTooManyRequests, input, "too many requests", 5 * time.Second},
	CodeInternal:          {http.StatusInternalServerError, document.ErrorInternal, "internal error", 0},
	CodeEngineUnavailable: {http.StatusServiceUnavailable, bridge, "the engine is not there", 10 * time.Second},
	CodeImageMissing:      {http.StatusServiceUnavailable, bridge, "the image is missing", 60 * time.Second},
	CodeQueueFull:         {http.StatusServiceUnavailable, bridge, "the queue is full", 30 * time.Second},
	CodeQueueTimeout:      {http.StatusServiceUnavailable, bridge, "the task did not begin in time", 30 * time.Second},
	CodeServerStopping:    {http.StatusServiceUnavailable, bridge, "the server is stopping", 2 * time.Second},
	CodeDiskFull:          {http.StatusInsufficientStorage, document.ErrorInternal, "the disk is full", 0},
}
