// Package reader reads what a box left in a process of its own, which can be killed. The child captures the tree, compares it with
// the base, inspects the change, searches it for secrets and writes the patch, under limits of memory, processor time, files
// and time, without network, other programs and other directories. It gets its work as one message on its standard input and
// answers with messages on its standard output.
//
// Bytes of a stranger may have taken the child over. So what it answers is decoded strictly and within bounds, and what can be
// checked is: the runner lists the changed paths from the two trees itself, and takes from the child only what contents say
// of them.
package reader
