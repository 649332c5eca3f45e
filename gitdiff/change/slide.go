package change

import "strings"

// maxSlide bounds how far a run of marked lines is moved.
const maxSlide = 500

// slide moves each run of marked lines to where a person would put it. A run can move by a line where the line it gives
// up equals the line it takes; which place reads best is judged by indentation and blank lines, in the spirit of git's
// indent heuristic (xdl_change_compact in git's xdiff/xdiffi.c).
func slide(lines []string, marked []bool) {
	for end := 0; end < len(lines); end++ {
		if !marked[end] {
			continue
		}
		start := end
		for end < len(lines) && marked[end] {
			end++
		}
		end = best(lines, marked, start, end)
	}
}

// best moves the run [start, end) to its best place and returns its new end.
func best(lines []string, marked []bool, start, end int) int {
	for n := 0; n < maxSlide && start > 0 && !marked[start-1] && lines[start-1] == lines[end-1]; n++ {
		start, end = start-1, end-1
		marked[start], marked[end] = true, false
	}
	if start > 0 && marked[start-1] {
		return end // it has met the run before: one run now, which stays
	}
	choice, cost := 0, awkward(lines, start)+awkward(lines, end)
	moves := 0
	for moves < 2*maxSlide && end+moves < len(lines) && !marked[end+moves] && lines[start+moves] == lines[end+moves] {
		moves++
		if c := awkward(lines, start+moves) + awkward(lines, end+moves); c <= cost {
			choice, cost = moves, c
		}
	}
	for i := range choice {
		marked[start+i], marked[end+i] = false, true
	}
	return end + choice
}

// awkward is the higher the worse a text reads when it is cut before line i.
func awkward(lines []string, i int) int {
	if i == len(lines) {
		return 0
	}
	text := strings.TrimLeft(lines[i], " \t")
	cost := 2 * min(len(lines[i])-len(text), 40)
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		cost += 3
	case strings.ContainsAny(text[:1], "})]") || text == "end":
		cost += 2
	}
	if i > 0 && strings.TrimSpace(lines[i-1]) == "" {
		cost--
	}
	return cost
}
