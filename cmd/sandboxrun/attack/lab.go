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

// outcome states.
const (
	Held     = "held"     // the attack was made and did not succeed
	Breached = "breached" // the attack succeeded
	Skipped  = "skipped"  // the attack could not be made here
)

// Outcome is the result of one attack.
type Outcome struct {
	ID      string `json:"id"`
	Group   Group  `json:"group"`
	Title   string `json:"title"`
	Against string `json:"against"` // OCI runtime of the boxes, or "naive"
	State   string `json:"state"`   // Held, Breached or Skipped
	Detail  string `json:"detail"`  // what succeeded, or why it was skipped
}

// Lab makes attacks. It may be used concurrently.
type Lab struct {
	Program string        // path of the sandboxrun program
	Dir     string        // existing directory for everything the attacks make; each scene removes its own
	Image   string        // image of the boxes, "" for the program's default
	Runtime string        // OCI runtime of the boxes, "" for the engine's default
	Env     []string      // environment of the program in addition to HOME, state, configuration and key; PATH at least
	Bound   time.Duration // how long one scene may take; a longer one counts as hung
}

// Stage is the prepared environment of one scene, shared by all attacks of a batch.
type Stage struct {
	Attacks []Attack // without those that are skipped
	Host    *Host
	Dir     string   // for this scene only, removed afterwards
	Outputs []string // of the attacks' scripts, by index; fewer when a script did not run
	Scene   Scene    // common to all attacks

	listen *listener
}

// Play prepares the stage of a batch, has act make its attacks there, and judges them. act fills in the scene and the outputs.
func (l *Lab) Play(ctx context.Context, batch []Attack, w Where, act func(context.Context, *Stage) error) (out []Outcome, err error) {
	against := w.Runtime
	if w.Naive {
		against = "naive"
	} else if against == "" {
		against = "default"
	}
	st := &Stage{}
	for _, a := range batch {
		if why := a.skip(w); why != "" {
			out = append(out, Outcome{a.ID, a.Group, a.Title, against, Skipped, why})
		} else {
			st.Attacks = append(st.Attacks, a)
		}
	}
	if len(st.Attacks) == 0 {
		return out, nil
	}
	if err := l.prepare(ctx, st, w); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", st.Attacks[0].ID, err)
	}
	defer func() {
		st.listen.close()
		err = errors.Join(err, RemoveAll(st.Dir))
	}()
	err = act(ctx, st)
	if err == nil {
		err = st.Measure()
	}
	if err != nil {
		return nil, fmt.Errorf("scene of %s: %w", st.Attacks[0].ID, err)
	}
	for i, a := range st.Attacks {
		s := st.Scene
		s.ID, s.alters = a.ID, a.Alters
		if i < len(st.Outputs) {
			s.Output = st.Outputs[i]
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
func (l *Lab) prepare(ctx context.Context, st *Stage, w Where) (err error) {
	if st.Dir, err = os.MkdirTemp(l.Dir, st.Attacks[0].ID+"-"); err != nil {
		return err
	}
	if st.listen, err = listen(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(st.Dir))
	}
	defer func() {
		if err != nil {
			st.listen.close()
			err = errors.Join(err, os.RemoveAll(st.Dir))
		}
	}()
	h := &Host{
		Canary: filepath.Join(st.Dir, "canary"), Home: filepath.Join(st.Dir, "home"), Repo: filepath.Join(st.Dir, "repo"),
		Out: filepath.Join(st.Dir, "out"), State: filepath.Join(st.Dir, "state"), Port: st.listen.port, Config: map[string]any{},
	}
	st.Host = h
	if h.Addrs, err = addresses(); err != nil {
		return err
	}
	for _, dir := range []string{h.Canary, h.Home, h.Repo} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := WriteFile(filepath.Join(h.Out, "secret"), Secret+"\n", 0o644); err != nil {
		return err
	}
	if err := makeRepository(ctx, h.Repo, st.Attacks); err != nil {
		return err
	}
	for _, a := range st.Attacks {
		if a.Host != nil {
			if err := a.Host(ctx, h); err != nil {
				return fmt.Errorf("host of %s: %w", a.ID, err)
			}
		}
	}
	st.Scene = Scene{Where: w, Host: h}
	base, err := Git(ctx, h.Repo, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	st.Scene.BaseCommit = strings.TrimSpace(base)
	if st.Scene.Base, err = readTree(ctx, h.Repo, "HEAD"); err != nil {
		return err
	}
	st.Scene.Before, err = Fingerprint(h.Repo)
	return err
}

// Measure records the state of the user's repository and of the listener after the run, once.
func (st *Stage) Measure() (err error) {
	s := &st.Scene
	if s.Then != nil {
		return nil
	}
	s.Hits = st.listen.close()
	if s.Capable, err = capable(st.Host.Repo); err != nil {
		return err
	}
	s.Then, err = Fingerprint(st.Host.Repo)
	return err
}

// Meanwhile starts what an attack does next to the run; the returned function ends it.
func (st *Stage) Meanwhile(ctx context.Context) func() {
	if st.Host.Meanwhile == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.Host.Meanwhile(ctx)
	}()
	return func() {
		stop()
		<-done
	}
}

// Script is an attack's script with its surroundings.
func (st *Stage) Script(a Attack) string {
	var b strings.Builder
	for name, value := range map[string]string{
		"ID": a.ID, "ROOT": "/workspace", "PWN": filepath.Join(st.Host.Canary, a.ID), "OUT": st.Host.Out,
		"ADDRS": strings.Join(st.Host.Addrs, " "), "PORT": st.Host.Port, "KEY": KeyVariable,
	} {
		fmt.Fprintf(&b, "export %s='%s'\n", name, value)
	}
	fmt.Fprintf(&b, "mkdir -p $ROOT/%[1]s && cd $ROOT/%[1]s\n%[2]s\n", strings.ToLower(a.ID), strings.TrimSpace(a.Script))
	return b.String()
}

// RemoveAll removes a scene's directory, whatever modes its files have.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || os.Getuid() == 0 {
		return err
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // the lab's own directory, no longer in use
		}
		return nil
	})
	return os.RemoveAll(dir)
}
