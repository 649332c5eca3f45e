package main

import (
	"context"
	"fmt"
	"strings"
)

// checkImage looks at the image of boxes and at the agents it says it holds.
func checkImage(ctx context.Context, x *examination) finding {
	if x.configErr != nil {
		return caution("", "not looked at: no configuration")
	}
	ref := x.config.Box.Image
	have, err := x.engine.Image(ctx, ref)
	if err != nil {
		return fail("sandboxrun image build", "%v", err)
	}
	id := have.Digest
	if id == "" {
		id = have.ID
	}
	text := fmt.Sprintf("%s (%s, %d MB)", ref, id, have.Bytes/1_000_000)
	var stale, missing []string
	for _, a := range registered() {
		switch v := have.Labels[agentLabel+a.Name]; v {
		case a.Version:
		case "":
			missing = append(missing, a.Name)
		default:
			stale = append(stale, fmt.Sprintf("%s %s instead of %s", a.Name, v, a.Version))
		}
	}
	if len(missing) > 0 {
		stale = append(stale, "no "+strings.Join(missing, ", no "))
	}
	if len(stale) > 0 {
		return caution("sandboxrun image build", "%s holds %s", text, strings.Join(stale, ", "))
	}
	return pass("%s holds %s", text, strings.Join(agentsIn(have), ", "))
}
