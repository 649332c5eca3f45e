package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/quota"
	"sandboxrun/gitdiff/workspace"
)

const (
	megabytes = 8
	files     = 300
)

// try makes a workspace as runs do, lets a box grow it in every way, and removes it.
func try(layout string) error {
	repo := filepath.Join("/tmp", layout)
	script := `git init -q "$0" && cd "$0" && echo a > README.md && echo b > sum.sh && echo c > old.txt && git add . &&
git -c user.name=t -c user.email=t@localhost commit -q -m base`
	if out, err := exec.Command("/bin/sh", "-c", script, repo).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	r, err := gitdiff.Open(repo)
	if err != nil {
		return err
	}
	ctx := context.Background()
	base, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	store := gitdiff.NewStore(filepath.Join("/tmp/disk/bases", layout))
	objects, err := store.For(r)
	if err != nil {
		return err
	}
	run := filepath.Join("/tmp/disk/work", layout)
	spec := workspace.Spec{
		Dir: filepath.Join(run, "agent"), Layout: workspace.Layout(layout), Base: base, UID: user, GID: user,
		Growth: quota.Growth{Bytes: megabytes << 20, Files: files},
	}
	w, err := workspace.New(ctx, objects, spec)
	if err != nil {
		return err
	}
	first, _, bounded := quota.Of(spec.Dir)
	say(layout+": the tree is bounded", want(bounded, first))
	if err := grow(layout, w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if w, err = workspace.New(ctx, objects, spec); err != nil { // the earlier tree left no trace
		return err
	}
	again, now, _ := quota.Of(spec.Dir)
	say(layout+": the number is free afterwards", want(again == first && now.Bytes < 1<<20, []any{first, again, now}))
	// As after a crash: the whole run is removed.
	err = workspace.Remove(store, run)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Dir, 0o700); err != nil {
		return err
	}
	if err := quota.Begin(spec.Dir); err != nil {
		return err
	}
	most, now, limited := quota.Of(spec.Dir)
	say(layout+": the remains of a crash are removed", want(!limited && now.Files == 1, []any{most, now}))
	return w.Close()
}

// grow lets the box of a workspace write in every way.
func grow(layout string, w *workspace.Workspace) error {
	const dir = "/tmp/merged"
	m := w.Mount()
	// Only the runner can reach a plain tree: mount it, as the engine does.
	mount := func() error { return unix.Mount(m.Dir, dir, "", unix.MS_BIND, "") }
	if layout == "overlay" {
		mount = func() error {
			return unix.Mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", m.Lower[0], m.Upper, m.Work))
		}
	}
	if err := mount(); err != nil {
		return err
	}
	defer func() { say(layout+": unmount", unix.Unmount(dir, 0)) }()
	_, exit, err := box("ordinary", dir)
	say(layout+": ordinary work is not hindered", fault(err, exit == 0, exit))
	n, exit, err := box("bytes", dir)
	say(layout+": bytes are bounded", fault(err, exit == 3 && n > (megabytes-1)<<20 && n <= megabytes<<20, []int{n, exit}))
	if err := os.Remove(filepath.Join(dir, "flood")); err != nil {
		return err
	}
	n, exit, err = box("files", dir)
	say(layout+": files are bounded", fault(err, exit == 3 && n > files/2 && n <= files, []int{n, exit}))
	return nil
}

func want(ok bool, got any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%v", got)
}

func fault(err error, ok bool, got any) error {
	if err != nil {
		return err
	}
	return want(ok, got)
}
