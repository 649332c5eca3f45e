// Fileops does what programs do with files, in the directory it is started in, and prints one line for each operation: its name and
// what came of it. On every disk that behaves like one the lines are the same.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// operations by name. Each works below a directory of its own name, which the base has: "f" and "g" are files, "d/x" and "e/y" are files in
// directories, "empty/keep" is one, too.
var operations = map[string]func(say func(...any)){}

func main() {
	syscall.Umask(0o022)
	names := make([]string, 0, len(operations))
	for name := range operations {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(os.Args) > 1 { // lists the directories to prepare
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	for _, name := range names {
		if err := os.Chdir(name); err != nil {
			fmt.Println(name, "no directory:", err)
			continue
		}
		var said []string
		operations[name](func(words ...any) {
			for _, w := range words {
				said = append(said, word(w))
			}
		})
		fmt.Println(name+":", strings.Join(said, " "))
		if err := os.Chdir(".."); err != nil {
			fmt.Println(err)
			return
		}
	}
}

// word is what an error or a value is called in every place.
func word(w any) string {
	err, isError := w.(error)
	var number syscall.Errno
	switch {
	case w == nil:
		return "ok"
	case isError && errors.As(err, &number):
		return number.Error()
	}
	return fmt.Sprint(w)
}

// text is the content of a file, or why it has none.
func text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return word(err)
	}
	return fmt.Sprintf("%.40q", b)
}

// list names the entries of a directory.
func list(path string) string {
	entries, err := os.ReadDir(path)
	if err != nil {
		return word(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return "[" + strings.Join(names, " ") + "]"
}

func inode(path string) uint64 {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return 0
	}
	return st.Ino
}

func open(path string, flags int) *os.File {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		fmt.Println("cannot open", path, word(err))
		os.Exit(1)
	}
	return f
}
