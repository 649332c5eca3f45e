package redact

// maxBackslashes bounds the backslashes before an escaped character: JSON in
// JSON in JSON has up to seven.
const maxBackslashes = 8

// backslashes counts those at the beginning of a text, as far as they matter.
func backslashes(text []byte) int {
	n := 0
	for n < len(text) && n < maxBackslashes && text[n] == '\\' {
		n++
	}
	return n
}

// escaped reads the one escaped character a text begins with: %41, \u0041, \x41
// or \/, with one backslash or several. n is 0 where there is none; more says
// that the text ends too early to tell.
func escaped(text []byte) (c byte, n int, more bool) {
	switch text[0] {
	case '%':
		return digits(text, 1, 2)
	case '\\':
		run := backslashes(text)
		if run == len(text) {
			return 0, 0, true // also after the last of them, whose character is to come
		}
		switch text[run] {
		case 'u':
			return digits(text, run+1, 4)
		case 'x':
			return digits(text, run+1, 2)
		}
		return text[run], run + 1, false
	}
	return 0, 0, false
}

// digits reads a byte from so many hexadecimal digits.
func digits(text []byte, from, count int) (c byte, n int, more bool) {
	v := 0
	for i := from; i < from+count; i++ {
		if i >= len(text) {
			return 0, 0, true
		}
		d := digit(text[i])
		if d < 0 {
			return 0, 0, false
		}
		v = v<<4 | d
	}
	if v > 0xff {
		return 0, 0, false
	}
	return byte(v), from + count, false
}

func digit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}
