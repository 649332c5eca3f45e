package agents

import (
	"os"
	"path/filepath"
	"time"
)

// Status says how far an agent's own program is set up on this host.
type Status string

// Statuses of availability.
const (
	LoginDetected     Status = "LOGIN_DETECTED"     // somebody is logged in, or a key is in the environment
	InstallationFound Status = "INSTALLATION_FOUND" // the program or its files are there
	NotFound          Status = "NOT_FOUND"
)

// Availability is what this host shows of an agent without running it and
// without a network. It says nothing about the boxes: those bring the program
// themselves and need only a key.
type Availability struct {
	Status Status `json:"status"`
	// LastLogin is when the login's file was last written, nil without one.
	LastLogin   *time.Time `json:"last_login,omitempty"`
	ConfigFound bool       `json:"config_found"` // files of the program are below HOME
}

// Available looks at the files of an agent below home and at the environment.
// Files are looked at, never read.
func Available(info Info, home string, getenv func(string) string, find func(program string) bool) Availability {
	var a Availability
	for _, rel := range info.Traces {
		if _, err := os.Lstat(filepath.Join(home, rel)); err == nil {
			a.ConfigFound = true
		}
	}
	for _, rel := range info.Logins {
		fi, err := os.Stat(filepath.Join(home, rel))
		if err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
			continue
		}
		if when := fi.ModTime().UTC().Truncate(time.Second); a.LastLogin == nil || when.After(*a.LastLogin) {
			a.LastLogin = &when
		}
	}
	keyed := false
	for _, name := range info.Secrets {
		keyed = keyed || getenv(name) != ""
	}
	switch {
	case a.LastLogin != nil, keyed:
		a.Status = LoginDetected
	case a.ConfigFound, info.Binary != "" && find(info.Binary):
		a.Status = InstallationFound
	default:
		a.Status = NotFound
	}
	return a
}
