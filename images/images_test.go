package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContextHoldsTheRecipeAndTheBundle(t *testing.T) {
	t.Parallel()
	for name, bundle := range map[string][]byte{"with bundle": []byte("PEM"), "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Build{CABundle: bundle, Agents: []Agent{sample()}}
			r, err := b.Context()
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"Dockerfile": string(b.Dockerfile()), "ca.pem": string(bundle)}
			if diff := cmp.Diff(want, untar(t, r)); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContextIsReproducible(t *testing.T) {
	t.Parallel()
	var streams [2][]byte
	for i := range streams {
		r, err := Build{CABundle: []byte("PEM"), Agents: named("b", "a").Agents}.Context()
		if err != nil {
			t.Fatal(err)
		}
		if streams[i], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(streams[0], streams[1]) {
		t.Error("two contexts of one Build differ")
	}
}

func untar(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(data)
	}
}
