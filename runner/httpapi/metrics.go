package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sandboxrun/runner/document"
	"sandboxrun/runner/feed"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// metrics are the server's counters. Every label has a bounded number of values, and none holds anything of a task.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	seconds      *prometheus.HistogramVec
	authFailures *prometheus.CounterVec
	streams      *prometheus.GaugeVec
	streamLag    prometheus.Histogram
	streamsEnded *prometheus.CounterVec
	approvals    *prometheus.CounterVec
	runs         runMetrics
}

// runMetrics count what becomes of runs while this server runs, whichever process works on them.
type runMetrics struct {
	ended     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	phases    *prometheus.HistogramVec
	wait      prometheus.Histogram
	issues    *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	lost      prometheus.Counter
	denied    prometheus.Counter
	collected []prometheus.Collector
}

func newRunMetrics() runMetrics {
	long := prometheus.ExponentialBuckets(1, 3, 10) // from a second to five hours
	m := runMetrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandboxrun_runs_total", Help: "Runs that have ended; agent none is command mode."}, []string{"agent", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sandboxrun_run_seconds", Help: "Time from the acceptance of a run to its result.", Buckets: long,
		}, []string{"agent"}),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sandboxrun_phase_seconds", Help: "Time of a run's phases.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 10)}, []string{"phase"}),
		wait:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sandboxrun_queue_wait_seconds", Help: "Time from accepting a task to its start.", Buckets: long}),
		issues: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandboxrun_issues_total", Help: "Runs that have ended with an issue, by its code."}, []string{"code"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandboxrun_tokens_total", Help: "Tokens of models, as the broker counted them."}, []string{"agent", "kind"}),
		lost:   prometheus.NewCounter(prometheus.CounterOpts{Name: "sandboxrun_workers_lost_total", Help: "Runs whose process died."}),
		denied: prometheus.NewCounter(prometheus.CounterOpts{Name: "sandboxrun_egress_denied_total", Help: "Runs in which something asked for a host that it may not have."}),
	}
	m.collected = []prometheus.Collector{m.ended, m.seconds, m.phases, m.wait, m.issues, m.tokens, m.lost, m.denied}
	return m
}

// watchRuns counts runs until ctx ends. What had ended before is not counted.
func (s *Server) watchRuns(ctx context.Context) {
	last := map[string]view.State{} // of runs that have not ended
	_ = s.feed.Watch(ctx, time.Hour, func(c feed.Change) error {
		switch c.Name {
		case feed.Snapshot:
			var all feed.State
			_ = json.Unmarshal(c.Data, &all) // our own line
			for _, text := range all.Runs {
				var v view.RunView
				if json.Unmarshal(text, &v) == nil && v.State != view.Ended {
					last[v.RunID] = v.State
				}
			}
		case feed.Run:
			var v view.RunView
			if json.Unmarshal(c.Data, &v) == nil {
				s.countRun(last, v)
			}
		case feed.Removed:
			var gone struct {
				RunID string `json:"run_id"`
			}
			if json.Unmarshal(c.Data, &gone) == nil {
				delete(last, gone.RunID)
			}
		}
		return nil
	}) // ends with ctx only
}

func (s *Server) countRun(last map[string]view.State, v view.RunView) {
	before, known := last[v.RunID]
	if before == view.Queued && (v.State == view.Starting || v.State == view.Running) {
		s.metrics.runs.wait.Observe(time.Since(v.StartedAt).Seconds())
	}
	if v.State != view.Ended {
		last[v.RunID] = v.State
		return
	}
	delete(last, v.RunID)
	if !known && time.Since(*v.EndedAt) > time.Minute {
		return // an old run that came into view
	}
	if known || v.SupersededBy == "" { // seen once more when its successor is known
		s.metrics.runs.count(v)
		if dir, err := s.o.State.Run(v.RunID); err == nil {
			s.metrics.runs.countPhases(dir)
		}
	}
}

func (m *runMetrics) count(v view.RunView) {
	agent := cmp.Or(v.Agent, "none")
	m.ended.WithLabelValues(agent, string(v.Status)).Inc()
	m.seconds.WithLabelValues(agent).Observe(v.EndedAt.Sub(v.StartedAt).Seconds())
	m.tokens.WithLabelValues(agent, "input").Add(float64(max(0, v.Tokens.Input)))
	m.tokens.WithLabelValues(agent, "output").Add(float64(max(0, v.Tokens.Output)))
	for _, code := range v.Issues {
		m.issues.WithLabelValues(code).Inc()
		switch code {
		case document.CodeRunnerLost:
			m.lost.Inc()
		case document.CodeEgressDenied:
			m.denied.Inc()
		}
	}
}

// maxPhases bounds the labels that one result adds; there are fewer phases.
const maxPhases = 32

func (m *runMetrics) countPhases(dir *state.RunDir) {
	doc, err := dir.Result()
	var res struct {
		Timing map[string]int64 `json:"timing"`
	}
	if err != nil || json.Unmarshal(doc, &res) != nil || len(res.Timing) > maxPhases {
		return // removed meanwhile
	}
	for phase, ms := range res.Timing {
		m.phases.WithLabelValues(phase).Observe(float64(ms) / 1000)
	}
}

func newMetrics(version string, st *state.State, svc *service.Service) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandboxrun_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sandboxrun_http_request_seconds", Help: "Time from the head of a request to the end of its answer.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"route"}),
		authFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandboxrun_auth_failures_total", Help: "Requests refused because of their host, origin, peer or token.",
		}, []string{"reason"}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sandboxrun_streams", Help: "Open streams of events."}, []string{"kind"}),
		streamLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sandboxrun_stream_lag_seconds", Help: "Time from an event to its delivery to a reader that has caught up.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}),
		streamsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sandboxrun_streams_closed_total", Help: "Streams closed, by reason."}, []string{"reason"}),
	}
	m.approvals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sandboxrun_approvals_total", Help: "Requests of agents answered through the server.",
	}, []string{"decision", "by"})
	m.runs = newRunMetrics()
	m.registry.MustRegister(m.runs.collected...)
	queued := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sandboxrun_queue_length", Help: "Tasks that were accepted and have not begun."}, func() float64 {
		list, err := svc.Queued()
		if err != nil {
			return math.NaN()
		}
		waiting := slices.DeleteFunc(list, func(v view.RunView) bool { return v.State != view.Queued })
		return float64(len(waiting))
	})
	// Looked at when they are asked for: any process may begin a run or answer.
	active := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sandboxrun_runs_active", Help: "Runs that have begun and have no result yet."}, func() float64 {
		ids, err := st.Active()
		if err != nil {
			return math.NaN()
		}
		return float64(len(ids))
	})
	pending := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sandboxrun_approvals_pending", Help: "Requests of agents that wait for a person."}, func() float64 {
		list, err := svc.Approvals(context.Background(), "") //nolint:forbidigo // a scrape has no context of its own
		if err != nil {
			return math.NaN()
		}
		return float64(len(list))
	})
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sandboxrun_build_info", Help: "Version of this program; always 1."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.authFailures, m.streams, m.streamLag, m.streamsEnded, m.approvals, active, pending, queued, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) refused(reason string) { m.authFailures.WithLabelValues(reason).Inc() }

// methods are those that get a label of their own; a caller may invent others.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "OPTIONS": true, "PATCH": true}

func (m *metrics) request(pattern, method string, status int, took time.Duration) {
	if !methods[method] {
		method = "other"
	}
	m.requests.WithLabelValues(pattern, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(pattern).Observe(took.Seconds())
}
