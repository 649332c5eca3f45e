package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// BenchmarkBase makes the pristine base of a commit: once per commit, it costs what the repository costs.
func BenchmarkBase(b *testing.B) {
	for _, files := range []int{1_000, 13_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			repo := workbench.Open(b, gitdifftest.Generated(b, files))
			c := workbench.Resolve(b, repo, "HEAD")
			for b.Loop() {
				b.StopTimer()
				o := workbench.For(b, gitdiff.NewStore(b.TempDir()), repo)
				b.StartTimer()
				held, err := openBase(context.Background(), o, c, testBox())
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
				repo := workbench.Open(b, gitdifftest.Generated(b, files))
				c := workbench.Resolve(b, repo, "HEAD")
				o := workbench.Objects(b, repo)
				own := testBox()
				held, err := openBase(context.Background(), o, c, own)
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
					w, err := New(context.Background(), o, Spec{Dir: dir, Layout: layout, Base: c, UID: own.uid, GID: own.gid})
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
