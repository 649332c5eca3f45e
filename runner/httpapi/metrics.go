package httpapi

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
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
	m.registry.MustRegister(m.requests, m.seconds, m.authFailures, m.streams, m.streamLag, m.streamsEnded, m.approvals, active, pending, build,
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
