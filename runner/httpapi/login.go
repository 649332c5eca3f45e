package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/httpapi/guard"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/websession"
)

// LoginRequest signs a page in.
type LoginRequest struct {
	Code string `doc:"Of the link that \"sandboxrun open\" prints; good once, for 90 seconds." json:"code"`
}

// LoginAnswer is what a page keeps.
type LoginAnswer struct {
	Token     string    `doc:"Sent like the server's own token."              json:"token"`
	ID        string    `doc:"Of the session in the list of pages."           json:"id"`
	ExpiresAt time.Time `doc:"Unless it is used before: 30 days without use." json:"expires_at"`
}

// LoginCode is a code that a page exchanges for a token.
type LoginCode struct {
	Code      string    `json:"code"`
	URL       string    `doc:"The page with the code in its fragment, which browsers send to nobody." json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// PageSession is a page that is signed in.
type PageSession struct {
	websession.Session
	Current bool `doc:"It is the page that asks." json:"current"`
}

type loginInput struct {
	Agent   string `header:"User-Agent"`
	RawBody []byte `contentType:"application/json"`
}

type codeInput struct{ host string }

// Resolve notes the name by which the caller calls the server; the guard has compared it with those it has.
func (c *codeInput) Resolve(ctx huma.Context) []error {
	c.host = ctx.Host()
	return nil
}

type pageInput struct {
	ID string `doc:"Id of the page's session." path:"id"`
}

// pageSession finds the session of a page by its token.
func (s *Server) pageSession(token string) (string, bool) {
	if s.o.Pages == nil {
		return "", false
	}
	return s.o.Pages.Check(token)
}

func (s *Server) loginRoutes() {
	if s.o.Pages == nil {
		return
	}
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/login", OperationID: "login", Summary: "Exchange the code of a link for a token that a page keeps",
		Description: "Needs no token. Five wrong codes a minute are answered, more are refused.", RequestBody: bodyOf[LoginRequest](s.api, true)},
		func(_ context.Context, in *loginInput) (*body[LoginAnswer], error) {
			var q LoginRequest
			if err := decode(in.RawBody, &q); err != nil {
				return nil, err
			}
			token, one, err := s.o.Pages.Login(q.Code, in.Agent)
			switch {
			case errors.Is(err, websession.ErrCode):
				s.metrics.refused("code")
				return nil, problem.New(problem.CodeUnauthorized, "%s", err.Error()).With(`"sandboxrun open" prints a new link`)
			case errors.Is(err, websession.ErrTries):
				return nil, problem.New(problem.CodeTooManyRequests, "%s", err.Error())
			case err != nil:
				return nil, err
			}
			return &body[LoginAnswer]{LoginAnswer{token, one.ID, one.LastUsedAt.Add(websession.IdleLimit)}}, nil
		})
	operationOf(s.api.OpenAPI().Paths["/api/login"], http.MethodPost).Security = nil
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/login-codes", OperationID: "newLoginCode", Summary: "Make a link that signs a page in",
		Description: "Only for the server's own token: a page signs no other page in."},
		func(ctx context.Context, in *codeInput) (*body[LoginCode], error) {
			if guard.Session(ctx) != "" {
				return nil, problem.New(problem.CodeForeignOrigin, "a page signs no other page in").With(`use "sandboxrun open"`)
			}
			scheme := "http://"
			if s.o.TLS {
				scheme = "https://"
			}
			code := s.o.Pages.NewCode()
			return &body[LoginCode]{LoginCode{code, scheme + in.host + "/#code=" + code, time.Now().Add(websession.CodeLimit).UTC()}}, nil
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/web-sessions", OperationID: "listPages", Summary: "List the pages that are signed in, the last used first"},
		func(ctx context.Context, _ *struct{}) (*body[[]PageSession], error) {
			list := []PageSession{}
			for _, one := range s.o.Pages.List() {
				list = append(list, PageSession{one, one.ID == guard.Session(ctx)})
			}
			return &body[[]PageSession]{list}, nil
		})
	addRoute(s, huma.Operation{Method: http.MethodDelete, Path: "/api/web-sessions/{id}", OperationID: "signOut", Summary: "Sign a page out; its streams end"},
		func(_ context.Context, in *pageInput) (*struct{}, error) {
			err := s.o.Pages.Revoke(in.ID)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, problem.New(problem.CodeNotFound, "no page has a session of this id")
			}
			return nil, err
		})
}
