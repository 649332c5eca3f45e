package runner

// LandConfig is what the user decided about changes that come into their
// repositories. No task can say anything of it.
type LandConfig struct {
	// AllowSecrets are fingerprints of what looks like a secret and is none, as
	// issues name them.
	AllowSecrets []string `json:"allow_secrets,omitempty"`
	// Permit are codes of findings that keep a change from landing and that the
	// user does not mind; Refuse are codes, and classes of dangerous paths, that
	// do so although they would only be told.
	Permit []string `json:"permit"`
	Refuse []string `json:"refuse"`
	// MaxFile is the size above which a new file is told of, and the least up to
	// which one is taken at all.
	MaxFile Size `json:"max_file"`
}

// defaultMaxFile is where hosts of repositories begin to warn.
const defaultMaxFile = 50 << 20

func defaultLand() LandConfig {
	return LandConfig{AllowSecrets: []string{}, Permit: []string{}, Refuse: []string{}, MaxFile: defaultMaxFile}
}

// over returns l and base together: lists add up.
func (l LandConfig) over(base LandConfig) LandConfig {
	return LandConfig{
		AllowSecrets: append(list(base.AllowSecrets), l.AllowSecrets...),
		Permit:       append(list(base.Permit), l.Permit...),
		Refuse:       append(list(base.Refuse), l.Refuse...),
		MaxFile:      firstSet(l.MaxFile, base.MaxFile),
	}
}
