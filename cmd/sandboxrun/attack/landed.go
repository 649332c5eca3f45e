package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// contentCap is how much of a file or an output is kept for judging, in bytes.
const contentCap = 1 << 20

// readTree lists a tree of a repository with the contents of its files.
func readTree(ctx context.Context, dir, rev string, flags ...string) (map[string]File, error) {
	list, err := Git(ctx, dir, append(slices.Clone(flags), "ls-tree", "-r", "-z", "--full-tree", rev)...)
	if err != nil {
		return nil, err
	}
	files := map[string]File{}
	var paths []string
	var ask strings.Builder
	for entry := range strings.SplitSeq(list, "\x00") {
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			continue
		}
		files[path] = File{Mode: fields[0], ID: fields[2]}
		if fields[1] == "blob" {
			paths = append(paths, path)
			ask.WriteString(fields[2] + "\n")
		}
	}
	answer, err := gitInput(ctx, dir, ask.String(), append(slices.Clone(flags), "cat-file", "--batch")...)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(strings.NewReader(answer))
	for _, path := range paths {
		content, err := readObject(r)
		if err != nil {
			return nil, fmt.Errorf("read %q of %s: %w", path, rev, err)
		}
		f := files[path]
		f.Content = content
		files[path] = f
	}
	return files, nil
}

// readObject reads one answer of "git cat-file --batch".
func readObject(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return "", fmt.Errorf("git cat-file answered %q", line)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(r, min(size, contentCap)))
	if err != nil {
		return "", err
	}
	_, err = io.CopyN(io.Discard, r, size-int64(len(content))+1)
	return string(content), err
}

// judgeLanded checks a landed commit with git, and lists the branches below sandboxrun/.
func judgeLanded(ctx context.Context, s *Scene, dir, commit string, flags ...string) {
	if commit != "" {
		if _, err := Git(ctx, dir, append(slices.Clone(flags), "fsck", "--strict", "--no-dangling", "--no-progress", commit)...); err != nil {
			s.Fsck = err.Error()
		}
	}
	s.Branches = map[string]string{}
	list, err := Git(ctx, dir, append(slices.Clone(flags), "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/sandboxrun")...)
	if err != nil {
		s.Fsck = err.Error()
	}
	for line := range strings.Lines(list) {
		if name, id, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			s.Branches[name] = id
		}
	}
}
