package docker

import (
	"context"

	"github.com/docker/docker/api/types"
)

// missedPings is how many signs of life in a row may fail: one can be an
// accident.
const missedPings = 2

// watchEngine asks the engine for signs of life while the box is open, and
// ends the box with *sandbox.UnavailableError, or *sandbox.EngineError, when
// there are none: an exec of a hung engine would otherwise wait for ever.
func (b *box) watchEngine() {
	e := b.engine
	b.work.Go(func() {
		missed := 0
		for {
			wait(b.life, e.timeouts.PingGap)
			if b.life.Err() != nil {
				return
			}
			_, err := ask(b.life, e, "watch engine", e.timeouts.Ping, func(ctx context.Context) (types.Ping, error) {
				return e.client.Ping(ctx)
			})
			if err == nil {
				missed = 0
				continue
			}
			if missed++; missed >= missedPings {
				b.end(err)
				return
			}
		}
	})
}
