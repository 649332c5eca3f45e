// Package runner turns a task into a plan, and a plan into a result. A run is a
// fixed list of phases over throwaway boxes; what happened is written to a
// journal first and folded into the one result document at the end.
package runner
