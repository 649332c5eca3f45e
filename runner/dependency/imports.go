package dependency

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Language is what imports a source file can have that are looked at.
type Language int

// Languages. In others a name that no manifest declares cannot be imported, or is not looked at.
const (
	Other Language = iota
	JavaScript
	TypeScript // may give names of its own to paths of the project
	Python
)

// LanguageOf says by its path what a source file is written in.
func LanguageOf(name string) Language {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".jsx":
		return JavaScript
	case ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".astro":
		return TypeScript
	case ".py", ".pyi":
		return Python
	}
	return Other
}

var (
	jsImport = regexp.MustCompile("(?:\\bfrom\\s*|\\bimport\\s*\\(?\\s*|\\brequire(?:\\.resolve)?\\s*\\(\\s*)(?:/\\*.{0,80}?\\*/\\s*)?[\"'`]([^\"'`\\n]{1,300})[\"'`]")
	pyImport = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t]+([^#\n]{1,500})|from[ \t]+([A-Za-z0-9_]+)[A-Za-z0-9_.]*[ \t]+import\b)|__import__\(\s*["']([A-Za-z0-9_]+)|import_module\(\s*["']([A-Za-z0-9_]+)`)
)

// Imports lists the packages that the text of a source file names as imports, without those of the language itself and of the project.
// It looks at the text and knows no grammar: a comment counts, and a name that is put together while the program runs is not seen.
func Imports(l Language, text []byte) []string {
	var list []string
	switch l {
	case JavaScript, TypeScript:
		for _, m := range jsImport.FindAllSubmatch(text, maxEntries) {
			if name := packageOf(string(m[1])); name != "" {
				list = append(list, name)
			}
		}
	case Python:
		for _, m := range pyImport.FindAllSubmatch(text, maxEntries) {
			names := []string{string(m[2]), string(m[3]), string(m[4])}
			for one := range strings.SplitSeq(string(m[1]), ",") {
				first, _, _ := strings.Cut(strings.TrimSpace(one), " ")
				first, _, _ = strings.Cut(first, ".")
				names = append(names, first)
			}
			for _, n := range names {
				if n != "" && !pythonOwn[n] {
					list = append(list, n)
				}
			}
		}
	case Other:
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// packageOf is the package that a specifier names, "" for none. An address is one whole.
func packageOf(specifier string) string {
	if strings.HasPrefix(specifier, ".") || strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, "#") || strings.HasPrefix(specifier, "node:") || strings.ContainsAny(specifier, "${} ") {
		return ""
	}
	if strings.Contains(specifier, ":") {
		return specifier
	}
	parts := strings.SplitN(specifier, "/", 3)
	name := parts[0]
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	if nodeOwn[parts[0]] || name == "" {
		return ""
	}
	return name
}

func words(text string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		m[w] = true
	}
	return m
}

// nodeOwn are the modules of Node.js 22.
var nodeOwn = words(`assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2
	https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls
	trace_events tty url util v8 vm wasi worker_threads zlib`)

// pythonOwn are the modules of Python 3.9 to 3.14, and the names that stand for the interpreter.
var pythonOwn = words(`abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile
	calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent configparser contextlib
	contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings
	ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext
	glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json
	keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt
	multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle
	pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
	pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex
	shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics
	string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this
	threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata
	unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport
	zlib zoneinfo
	__future__ asynchat asyncore binhex distutils imp smtpd tomllib annotationlib compression concurrent importlib xml unittest`)
