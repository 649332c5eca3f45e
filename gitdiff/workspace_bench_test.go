package gitdiff

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// BenchmarkBase makes the pristine base of a commit: once per commit, it costs what the repository costs.
func BenchmarkBase(b *testing.B) {
	for _, files := range []int{1_000, 13_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			repo := mustOpen(b, gitdifftest.Generated(b, files))
			c := mustResolve(b, repo, "HEAD")
			for b.Loop() {
				b.StopTimer()
				o := mustFor(b, NewStore(b.TempDir()), repo)
				b.StartTimer()
				held, err := o.base(context.Background(), c, testBox())
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := held.release(); err != nil {
					b.Fatal(err)
				}
				if err := RemoveTree(held.dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkWorkspace opens and closes a workspace over a base that is there.
func BenchmarkWorkspace(b *testing.B) {
	for _, files := range []int{1_000, 13_000} {
		for _, layout := range []Layout{LayoutOverlay, LayoutCopy} {
			b.Run(fmt.Sprintf("files=%d/layout=%s", files, layout), func(b *testing.B) {
				repo := mustOpen(b, gitdifftest.Generated(b, files))
				c := mustResolve(b, repo, "HEAD")
				o := mustObjects(b, repo)
				own := testBox()
				held, err := o.base(context.Background(), c, own)
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := held.release(); err != nil {
						b.Error(err)
					}
				}()
				dir := filepath.Join(b.TempDir(), "workspace")
				for b.Loop() {
					w, err := o.Workspace(context.Background(), WorkspaceSpec{Dir: dir, Layout: layout, Base: c, UID: own.uid, GID: own.gid})
					if err != nil {
						b.Fatal(err)
					}
					if err := w.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
