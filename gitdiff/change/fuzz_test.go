package change

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

// FuzzPatch parses and applies the patch of one file with another implementation than the one that wrote the content: the
// name and the new text come back to the byte.
func FuzzPatch(f *testing.F) {
	f.Add("name", "old\n", "new\n")
	f.Add("a \"b\"\t\\\xff\n", "1\n2\n3", "1\n2\n3\n")
	f.Add("bin", "\x00", "\x00\x01\x02")
	f.Add(" x ", "\r\n\r\n", "-- a\n++ b\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, name, was, now string) {
		if gitobj.CheckEntry(object.TreeEntry{Name: name, Mode: filemode.Regular}) != nil || was == now || was == "" || now == "" {
			t.Skip()
		}
		if strings.HasSuffix(name, `\`) {
			t.Skip("the other implementation takes the quote after it for part of the name; git does not, see TestGitTakesPatchesOfOddNames")
		}
		st := memory.NewStorage()
		tree := func(text string) string {
			obj := st.NewEncodedObject()
			obj.SetType(plumbing.BlobObject)
			w, err := obj.Writer()
			gitdifftest.Must(t, err)
			_, err = w.Write([]byte(text))
			gitdifftest.Must(t, err)
			id, err := st.SetEncodedObject(obj)
			gitdifftest.Must(t, err)
			id, err = gitobj.WriteTree(st, []object.TreeEntry{{Name: name, Mode: filemode.Regular, Hash: id}}, plumbing.ZeroHash)
			gitdifftest.Must(t, err)
			return id.String()
		}
		d, err := diffTrees(context.Background(), st, tree(was), tree(now))
		gitdifftest.Must(t, err)
		var patch bytes.Buffer
		gitdifftest.Must(t, d.WritePatch(context.Background(), &patch))
		files, _, err := gitdiff.Parse(&patch)
		gitdifftest.Must(t, err)
		if len(files) != 1 || files[0].NewName != name {
			t.Fatalf("%d files, name %q, want %q", len(files), files[0].NewName, name)
		}
		var got bytes.Buffer
		gitdifftest.Must(t, gitdiff.Apply(&got, strings.NewReader(was), files[0]))
		if got.String() != now {
			t.Errorf("applied: %q, want %q", got.String(), now)
		}
	})
}

// FuzzShow proves that text from a box is one line of printable UTF-8 when it is shown.
func FuzzShow(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\u202e\xff\ufffd\n")
	f.Fuzz(func(t *testing.T, text string) {
		if shown := gitname.Clip(text, 50); strings.ContainsFunc(shown, gitname.Misleads) || shown != strings.ToValidUTF8(shown, "") {
			t.Errorf("%q is shown as %q", text, shown)
		}
		if isASCII(text) && gitname.IsDotGit(text) != gitname.IsDotGit(strings.ToUpper(text)) {
			t.Errorf("case decides about %q", text)
		}
	})
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
