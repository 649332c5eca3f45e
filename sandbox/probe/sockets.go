package probe

import "golang.org/x/sys/unix"

// families are address families by name, and the socket type to request.
var families = map[string][2]int{
	"unix":      {unix.AF_UNIX, unix.SOCK_STREAM},
	"inet":      {unix.AF_INET, unix.SOCK_STREAM},
	"inet6":     {unix.AF_INET6, unix.SOCK_STREAM},
	"inet raw":  {unix.AF_INET, unix.SOCK_RAW},
	"netlink":   {unix.AF_NETLINK, unix.SOCK_RAW},
	"packet":    {unix.AF_PACKET, unix.SOCK_RAW},
	"alg":       {unix.AF_ALG, unix.SOCK_SEQPACKET},
	"vsock":     {unix.AF_VSOCK, unix.SOCK_STREAM},
	"bluetooth": {unix.AF_BLUETOOTH, unix.SOCK_RAW},
	"can":       {unix.AF_CAN, unix.SOCK_RAW},
	"xdp":       {unix.AF_XDP, unix.SOCK_RAW},
	"key":       {unix.AF_KEY, unix.SOCK_RAW},
}

// trySockets makes a socket of every family.
func trySockets() map[string]string {
	found := map[string]string{}
	for name, f := range families {
		fd, err := unix.Socket(f[0], f[1]|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		found[name] = errorName(err)
	}
	return found
}
