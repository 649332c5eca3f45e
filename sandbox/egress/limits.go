package egress

import "time"

// Limits bounds what one box may use. A zero field takes the default.
type Limits struct {
	Streams     int   // streams at a time; default 160, more than a guest of ours opens
	TunnelBytes int64 // bytes the box may send through the tunnel in all; default 16 GiB

	Requests    int           // broker: requests forwarded in all; default 10 000
	RequestBody int64         // broker: bytes of one request body; default 64 MiB
	BrokerBytes int64         // broker: bytes of request and response bodies in all; default 4 GiB
	RequestTime time.Duration // broker: one request from start to end; default 30 min

	ConnectionBytes int64         // proxy: bytes of one connection, both ways; default 4 GiB
	ConnectionTime  time.Duration // proxy: one connection from start to end; default 1 h
	ConnectionIdle  time.Duration // proxy: without a byte; default 5 min
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Streams, 160)
	setDefault(&l.TunnelBytes, 16<<30)
	setDefault(&l.Requests, 10_000)
	setDefault(&l.RequestBody, 64<<20)
	setDefault(&l.BrokerBytes, 4<<30)
	setDefault(&l.RequestTime, 30*time.Minute)
	setDefault(&l.ConnectionBytes, 4<<30)
	setDefault(&l.ConnectionTime, time.Hour)
	setDefault(&l.ConnectionIdle, 5*time.Minute)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
