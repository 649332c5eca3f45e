package doctor

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/images"
)

// checkImage inspects the image of boxes and the agents in its labels.
func checkImage(ctx context.Context, x *Examination) Finding {
	if x.ConfigErr != nil {
		return Caution("", "not checked: no configuration")
	}
	ref := x.Config.Box.Image
	have, err := x.Engine.Image(ctx, ref)
	if err != nil {
		return Fail("sandboxrun image build", "%v", err)
	}
	id := have.Digest
	if id == "" {
		id = have.ID
	}
	text := fmt.Sprintf("%s (%s, %d MB)", ref, id, have.Bytes/1_000_000)
	var stale, missing []string
	for _, agent := range agents.All() {
		a := agent.Info()
		switch v := have.Labels[images.AgentLabel+a.Name]; v {
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
		return Caution("sandboxrun image build", "%s holds %s", text, strings.Join(stale, ", "))
	}
	return Pass("%s holds %s", text, strings.Join(images.AgentsIn(have.Labels), ", "))
}
