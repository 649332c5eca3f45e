package server

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Supervisor is the program that started the server and waits for it to be ready: pm2 over a descriptor, systemd over a
// socket, or neither.
type Supervisor struct {
	channel  *os.File // of pm2, nil without
	watchdog time.Duration
}

// Supervised finds the supervisor. What the environment says of it is removed, and the descriptor is closed in every
// program that the server starts: a worker that held pm2's channel would die with pm2.
func Supervised() *Supervisor {
	s := &Supervisor{}
	if fd, err := strconv.Atoi(os.Getenv("NODE_CHANNEL_FD")); err == nil && fd > 2 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err == nil {
			s.channel = os.NewFile(uintptr(fd), "channel of pm2")
		}
	}
	_ = os.Unsetenv("NODE_CHANNEL_FD")
	_ = os.Unsetenv("NODE_CHANNEL_SERIALIZATION_MODE")
	s.watchdog, _ = daemon.SdWatchdogEnabled(true) // 0 where there is none
	return s
}

// Ready says that the server answers requests. Supervisors that are not there are no error.
func (s *Supervisor) Ready() error {
	if s.channel != nil {
		// One JSON value a line is the form of messages between node processes; pm2 waits for this one.
		if _, err := s.channel.WriteString("\"ready\"\n"); err != nil {
			return err
		}
	}
	_, err := daemon.SdNotify(false, daemon.SdNotifyReady)
	return err
}

// Stopping says that the server begins to stop.
func (s *Supervisor) Stopping() error {
	_, err := daemon.SdNotify(false, daemon.SdNotifyStopping)
	return err
}

// Close closes the channel and forgets the socket, so that no program started later inherits them.
func (s *Supervisor) Close() error {
	_ = os.Unsetenv("NOTIFY_SOCKET")
	if s.channel == nil {
		return nil
	}
	return s.channel.Close()
}

// Watch tells systemd's watchdog that the server lives while alive says so, until ctx ends.
func (s *Supervisor) Watch(ctx context.Context, alive func() bool) {
	if s.watchdog <= 0 {
		return
	}
	t := time.NewTicker(s.watchdog / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if alive() {
				_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) // a missed one is repeated
			}
		}
	}
}
