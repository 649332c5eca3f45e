package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sandboxrun/runner/document"
)

const (
	// quiet is how long a call of a client without progress takes at most: clients give up after 60 s. reportGap is how
	// often others are told that the run goes on.
	quiet     = 45 * time.Second
	reportGap = 5 * time.Second
	// acceptBound is how long a task may take to be accepted, lookBound how long a look at a run may take.
	acceptBound = 40 * time.Second
	lookBound   = 3 * time.Second
)

// handle is the answer for a run that goes on.
type handle struct {
	RunID string `json:"run_id"`
	State string `json:"state"`
	Phase string `json:"phase,omitempty"`
	Doing string `json:"doing,omitempty"`
	Next  string `json:"next"`
}

// await answers with the result of a run, or with its handle when the client's time is up or it wants no answer any more.
// seconds is what the client asked for, nil for as long as it can wait.
func (c *call) await(ctx context.Context, run string, seconds *int) (answer, error) {
	patience := maxWait * time.Second
	if seconds != nil {
		if *seconds < 0 || *seconds > maxWait {
			return answer{}, document.InputAt("/wait_seconds", fmt.Sprintf("must be from 0 to %d; run %s was accepted and goes on", maxWait, run))
		}
		patience = time.Duration(*seconds) * time.Second
	}
	if c.token == nil {
		patience = min(patience, quiet-time.Since(c.began))
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type end struct {
		result []byte
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, err := c.o.Runs.Wait(limited, run)
		ended <- end{result, err}
	}()
	c.report(ctx, fmt.Sprintf("run %s was accepted", run))
	again := time.NewTicker(reportGap)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			c.report(ctx, c.progress(ctx, run))
		case e := <-ended:
			switch {
			case e.err == nil:
				return resultAnswer(e.result)
			case limited.Err() != nil:
				return answer{value: c.handle(ctx, run)}, nil
			}
			return answer{}, e.err
		}
	}
}

// handle shows a run that goes on, also to a client that has cancelled its call.
func (c *call) handle(ctx context.Context, run string) handle {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookBound)
	defer cancel()
	h := handle{RunID: run, State: "running", Next: "wait_run"}
	if v, err := c.o.Runs.Run(ctx, run); err == nil {
		h.State, h.Phase, h.Doing = string(v.State), v.Phase, c.o.Runs.Doing(ctx, run)
	}
	return h
}

func (c *call) progress(ctx context.Context, run string) string {
	h := c.handle(ctx, run)
	words := slices.DeleteFunc([]string{h.State, h.Phase, h.Doing}, func(word string) bool { return word == "" })
	return "run " + run + ": " + strings.Join(words, ", ")
}

// report tells the client that its call is alive, if it wants to know.
func (c *call) report(ctx context.Context, message string) {
	if c.token == nil || ctx.Err() != nil {
		return
	}
	seconds := time.Since(c.began).Seconds()
	err := c.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: c.token, Progress: seconds, Message: message})
	if err != nil && ctx.Err() == nil {
		c.o.Log.Warn("the client was not told of progress", "cause", err.Error())
	}
}

// late names a call that was given up because accepting took too long.
func late(ctx, limited context.Context, err error) error {
	if limited.Err() != nil && ctx.Err() == nil {
		return &document.BridgeError{Message: fmt.Sprintf("the task was not accepted within %s: %v", acceptBound, err),
			Hint: `see "sandboxrun doctor"; the same task under the same task_id is run once`}
	}
	return err
}
