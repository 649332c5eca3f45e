package extract

import (
	"strings"
	"testing"

	"sandboxrun/runner/goapi"
)

const service = `package svc

import (
	"fmt"
	"log"
	"log/slog"

	"go.uber.org/zap"
)

const started = "started"

type Server struct {
	log *zap.Logger
	s   *slog.Logger
}

type handler struct{}

func (handler) Handle(r int) error { return nil }

func (s *Server) Start(port int) error {
	log.Printf("listening on %d", port)
	s.log.Info(started, zap.Int("port", port), zap.String("host", "x"))
	s.s.Warn("slow", "after", port)
	audit("user", port)
	fmt.Println("hello")
	if port == 0 {
		return fmt.Errorf("port")
	}
	return nil
}

func audit(what string, n int) { slog.Info("audit", "what", what, "n", n) }

func init() { log.SetFlags(0) }
`

func TestLinesThatProgramsLog(t *testing.T) {
	t.Parallel()
	was := surface(t, map[string]string{"go.mod": "module m\n", "svc.go": service})
	for name, tt := range map[string]struct {
		from, to string
		more     string // another file
		changed  bool
		doubt    bool
	}{
		"nothing":              {},
		"a body":               {from: "return nil\n}\n\nfunc audit", to: "port++\n\treturn nil\n}\n\nfunc audit"},
		"another line break":   {from: "zap.Int(\"port\", port), zap", to: "\n\t\tzap.Int(\"port\", port),\n\t\tzap"},
		"another receiver":     {from: "(s *Server) Start(port int) error {\n", to: "(srv *Server) Start(port int) error {\n\ts := srv\n"},
		"a constant by value":  {from: "s.log.Info(started", to: "s.log.Info(\"started\""},
		"an added call":        {from: "fmt.Println(\"hello\")", to: "fmt.Println(\"hello\")\n\ts.s.Info(\"more\")"},
		"what is printed":      {from: "fmt.Println(\"hello\")", to: "fmt.Println(\"bye\")"},
		"a moved call":         {from: "\taudit(\"user\", port)\n", to: "", more: "func other(port int) { audit(\"user\", port) }\n"},
		"another template":     {from: "listening on %d", to: "listens on %d", changed: true},
		"another constant":     {from: "\"started\"", to: "\"begun\"", changed: true},
		"another key":          {from: "\"after\"", to: "\"delay\"", changed: true},
		"another order":        {from: "zap.Int(\"port\", port), zap.String(\"host\", \"x\")", to: "zap.String(\"host\", \"x\"), zap.Int(\"port\", port)", changed: true},
		"another level":        {from: "s.s.Warn", to: "s.s.Error", changed: true},
		"another argument":     {from: "%d\", port)", to: "%d\", port+1)", changed: true},
		"another logger":       {from: "log.Printf", to: "slog.Printf", changed: true},
		"a dropped call":       {from: "\ts.s.Warn(\"slow\", \"after\", port)\n", to: "", changed: true},
		"a wrapper's words":    {from: "audit(\"user\"", to: "audit(\"account\"", changed: true},
		"a wrapper's call":     {from: "slog.Info(\"audit\", \"what\"", to: "slog.Info(\"audit\", \"who\"", changed: true},
		"flags":                {from: "SetFlags(0)", to: "SetFlags(1)", changed: true},
		"a new prefix":         {from: "log.SetFlags(0)", to: "log.SetFlags(0); log.SetPrefix(\"x\")", changed: true},
		"a new logger":         {more: "var l = slog.New(nil)\n", doubt: true},
		"a handler's body":     {from: "Handle(r int) error { return nil }", to: "Handle(r int) error { r++; return nil }", doubt: true},
		"a field of a package": {more: "func set() { slog.Default = nil }\n", changed: true},
	} {
		text := service
		if tt.from != "" {
			if !strings.Contains(text, tt.from) {
				t.Errorf("%s: %q is not there", name, tt.from)
			}
			text = strings.Replace(text, tt.from, tt.to, 1)
		}
		files := map[string]string{"go.mod": "module m\n", "svc.go": text}
		if tt.more != "" {
			files["more.go"] = "package svc\n\nimport \"log/slog\"\n\nvar _ slog.Level\n\n" + tt.more
		}
		changed, doubts := goapi.CompareLogs(was, surface(t, files))
		if (len(changed) > 0) != tt.changed || !tt.changed && (len(doubts) > 0) != tt.doubt {
			t.Errorf("%s: changed %q, doubts %q", name, changed, doubts)
		}
	}
}
