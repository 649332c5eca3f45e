package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Key is the provider's key of every scene: it is on the host, and must not be anywhere else.
const Key = "sk-ant-attack-the-real-key-0123456789abcdef"

// keyVariable is where the host holds it.
const keyVariable = "ANTHROPIC_API_KEY"

// outcome states.
const (
	Held     = "held"     // the attack was made and nothing got through
	Breached = "breached" // something got through
	Skipped  = "skipped"  // the attack could not be made here
)

// Outcome is how one attack ended.
type Outcome struct {
	ID      string `json:"id"`
	Group   Group  `json:"group"`
	Title   string `json:"title"`
	Against string `json:"against"` // OCI runtime of the boxes, or "naive"
	State   string `json:"state"`   // Held, Breached or Skipped
	Detail  string `json:"detail"`  // what got through, or why it was skipped
}

// Lab makes attacks. It may be used concurrently.
type Lab struct {
	Program string        // path of the sandboxrun program
	Dir     string        // existing directory for everything the attacks make; each scene removes its own
	Image   string        // image of the boxes, "" for the program's default
	Runtime string        // OCI runtime of the boxes, "" for the engine's default
	Env     []string      // environment of the program beside HOME, state, configuration and key; PATH at least
	Bound   time.Duration // how long one scene may take; what takes longer hangs
}

// naiveImage is the image of naive boxes where the lab names none.
const naiveImage = "sandboxrun/agent"

// Run makes a batch of attacks against the program, in one box if there are several, and judges them. The error is one of the
// lab, not of the program.
func (l *Lab) Run(ctx context.Context, batch []Attack) ([]Outcome, error) {
	return l.play(ctx, batch, Where{Runtime: l.Runtime}, l.execute)
}

// RunNaive makes one attack against the naive counterpart.
func (l *Lab) RunNaive(ctx context.Context, a Attack) (Outcome, error) {
	out, err := l.play(ctx, []Attack{a}, Where{Naive: true}, l.naive)
	if err != nil {
		return Outcome{}, err
	}
	return out[0], nil
}

// stage is the prepared place of one scene: everything that is the same for all attacks of a batch.
type stage struct {
	batch   []Attack // without those that are skipped
	host    *Host
	listen  *listener
	dir     string
	outputs []string // of the batch's scripts
	common  Scene
}

func (l *Lab) play(ctx context.Context, batch []Attack, w Where, act func(context.Context, *stage) error) (out []Outcome, err error) {
	against := w.Runtime
	if w.Naive {
		against = "naive"
	} else if against == "" {
		against = "default"
	}
	st := &stage{}
	for _, a := range batch {
		if why := a.skip(w); why != "" {
			out = append(out, Outcome{a.ID, a.Group, a.Title, against, Skipped, why})
		} else {
			st.batch = append(st.batch, a)
		}
	}
	if len(st.batch) == 0 {
		return out, nil
	}
	if err := l.prepare(ctx, st, w); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", st.batch[0].ID, err)
	}
	defer func() {
		st.listen.close()
		err = errors.Join(err, removeAll(st.dir))
	}()
	if err := act(ctx, st); err != nil {
		return nil, fmt.Errorf("scene of %s: %w", st.batch[0].ID, err)
	}
	for i, a := range st.batch {
		s := st.common
		s.ID, s.alters = a.ID, a.Alters
		if i < len(st.outputs) {
			s.Output = st.outputs[i]
		}
		o := Outcome{a.ID, a.Group, a.Title, against, Held, a.Breached(s)}
		if o.Detail == "" && !w.Naive {
			o.Detail = s.broken()
		}
		if o.Detail != "" {
			o.State = Breached
		}
		out = append(out, o)
	}
	return out, nil
}

// prepare makes the host of a scene.
func (l *Lab) prepare(ctx context.Context, st *stage, w Where) (err error) {
	if st.dir, err = os.MkdirTemp(l.Dir, st.batch[0].ID+"-"); err != nil {
		return err
	}
	if st.listen, err = listen(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(st.dir))
	}
	defer func() {
		if err != nil {
			st.listen.close()
			err = errors.Join(err, os.RemoveAll(st.dir))
		}
	}()
	h := &Host{
		Canary: filepath.Join(st.dir, "canary"), Home: filepath.Join(st.dir, "home"), Repo: filepath.Join(st.dir, "repo"),
		Out: filepath.Join(st.dir, "out"), State: filepath.Join(st.dir, "state"), Port: st.listen.port, Config: map[string]any{},
	}
	st.host = h
	if h.Addrs, err = addresses(); err != nil {
		return err
	}
	for _, dir := range []string{h.Canary, h.Home, h.Repo} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(h.Out, "secret"), Secret+"\n", 0o644); err != nil {
		return err
	}
	if err := makeRepository(ctx, h.Repo, st.batch); err != nil {
		return err
	}
	for _, a := range st.batch {
		if a.Host != nil {
			if err := a.Host(ctx, h); err != nil {
				return fmt.Errorf("host of %s: %w", a.ID, err)
			}
		}
	}
	st.common = Scene{Where: w, Host: h}
	base, err := git(ctx, h.Repo, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	st.common.baseCommit = strings.TrimSpace(base)
	if st.common.Base, err = readTree(ctx, h.Repo, "HEAD"); err != nil {
		return err
	}
	st.common.Before, err = Fingerprint(h.Repo)
	return err
}

// meanwhile runs what an attack does beside the run; the returned function ends it.
func (st *stage) meanwhile(ctx context.Context) func() {
	if st.host.Meanwhile == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.host.Meanwhile(ctx)
	}()
	return func() {
		stop()
		<-done
	}
}

// script is an attack's script with its surroundings.
func (st *stage) script(a Attack) string {
	var b strings.Builder
	for name, value := range map[string]string{
		"ID": a.ID, "ROOT": "/workspace", "PWN": filepath.Join(st.host.Canary, a.ID), "OUT": st.host.Out,
		"ADDRS": strings.Join(st.host.Addrs, " "), "PORT": st.host.Port, "KEY": keyVariable,
	} {
		fmt.Fprintf(&b, "export %s='%s'\n", name, value)
	}
	fmt.Fprintf(&b, "mkdir -p $ROOT/%[1]s && cd $ROOT/%[1]s\n%[2]s\n", strings.ToLower(a.ID), strings.TrimSpace(a.Script))
	return b.String()
}

// removeAll removes a scene's directory, whatever modes its files have.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || os.Getuid() == 0 {
		return err
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // the lab's own directory, with nothing at work in it any more
		}
		return nil
	})
	return os.RemoveAll(dir)
}
