// Package deploy holds the files with which supervisors keep the server alive, embedded in the program.
package deploy

import _ "embed" // for the files below

// PM2 is an ecosystem file for pm2.
//
//go:embed ecosystem.config.cjs
var PM2 string

// Systemd is a user unit for systemd.
//
//go:embed sandboxrun.service
var Systemd string
