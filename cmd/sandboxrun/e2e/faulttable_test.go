package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox/sandboxtest"
)

var everyFault = flag.String("every-fault", "", "inject every fault into every call, `when` being always, once, late or all; without it a sample, a larger one in \"make test-all\"")

var faultRoute = flag.String("fault-route", "", "only into calls whose route has this `text`")

// whens are the occurrences of a call that fail.
var whens = []string{"always", "once", "late"}

// befalls matches the requests of a route to which a fault applies. Late means from the second box of the run on.
func befalls(when, route string) func(*http.Request) bool {
	on := sandboxtest.OnRoute(route)
	switch when {
	case "once":
		return sandboxtest.Nth(1, on)
	case "late":
		var boxes atomic.Int64
		return func(r *http.Request) bool {
			if sandboxtest.Route(r) == "POST /containers/create" {
				boxes.Add(1)
			}
			return boxes.Load() > 1 && on(r)
		}
	default:
		return on
	}
}

// sampledFault says whether a combination is tried. The sample has two faults for
// every route and every fault on two routes or more; the moments take turns.
func sampledFault(when string, route, fault, nth int) bool {
	if *everyFault != "" {
		return *everyFault == when || *everyFault == "all"
	}
	if testenv.All() { // all of them take ten minutes: -every-fault runs them
		return (route+fault+nth)%4 == 0
	}
	faults := sandboxtest.Faults()
	n := len(faults)
	return nth == (route+fault)%len(whens) && (fault == route*5%n || fault == (route*5+6)%n || faults[fault] == sandboxtest.Misframed)
}

// routesOfARun lists the routes of a run without a fault.
func routesOfARun(t *testing.T) []string {
	t.Helper()
	f := newFaultRun(t, "no fault")
	f.run(t.Context(), f.command(t))
	f.judge(t)
	f.recover(t)
	if len(f.wrong) > 0 || f.result == nil || f.result.Status != document.StatusSuccess {
		t.Fatalf("a run without a fault: %s: %v", f.outcome(), f.wrong)
	}
	return f.proxy.Routes()
}

// streams are the routes whose connection becomes a stream.
var streams = []string{"POST /containers/{id}/attach", "POST /exec/{id}/start"}

func TestNoFaultOfTheEngineMakesAFalseResult(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	routes := routesOfARun(t)
	for _, must := range []string{"POST /containers/create", "POST /containers/{id}/start", "POST /exec/{id}/start", "DELETE /containers/{id}", "DELETE /volumes/{name}", "GET /events"} {
		if !slices.Contains(routes, must) {
			t.Errorf("a run does not call %q any more: %v", must, routes)
		}
	}
	var runs []*faultRun
	n, tried := 0, map[string]int{}
	for i, route := range routes {
		for j, fault := range sandboxtest.Faults() {
			for k, when := range whens {
				if fault == sandboxtest.Misframed && !slices.Contains(streams, route) {
					continue
				}
				if n++; !sampledFault(when, i, j, k) || !strings.Contains(route, *faultRoute) {
					continue
				}
				f := newFaultRun(t, fmt.Sprintf("%-32s %-10s %s", route, fault, when))
				f.proxy.Inject(fault, befalls(when, route))
				runs = append(runs, f)
				tried[route]++
				tried[string(fault)]++
				tried[when]++
			}
		}
	}
	all := slices.Concat(routes, whens)
	for _, fault := range sandboxtest.Faults() {
		all = append(all, string(fault))
	}
	for _, must := range all {
		if tried[must] == 0 && *everyFault+*faultRoute == "" {
			t.Errorf("the sample has nothing of %q", must)
		}
	}
	runAll(t, runs)
	table := []string{fmt.Sprintf("%d of %d combinations", len(runs), n)}
	for _, f := range runs {
		table = append(table, fmt.Sprintf("%-54s %5.1fs  %s", f.name, f.took.Seconds(), f.outcome()))
	}
	t.Log(strings.Join(table, "\n"))
}

// runAll runs many at a time, because they mostly wait.
func runAll(t *testing.T, runs []*faultRun) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(6)
	for _, f := range runs {
		c := f.command(t)
		group.Go(func() error {
			f.run(t.Context(), c)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	for _, f := range runs {
		f.judge(t)
		f.recover(t)
		for _, w := range f.wrong {
			t.Errorf("%s: %s", f.name, w)
		}
		if f.took > faultBound/2 {
			t.Logf("%s: took %s", f.name, f.took.Round(time.Second))
		}
	}
}
