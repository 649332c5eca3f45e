// Package images holds the recipe of the agent image, writes the agents into it,
// and turns it into what an engine's build call wants: a context, build arguments
// and a digest that says whether an image that exists is still the right one. It
// touches no engine and knows no agent.
package images

import _ "embed"

//go:embed Dockerfile.agent
var recipe []byte

// Name is the name of the image this package describes.
const Name = "sandboxrun/agent"

// Base is the image Name starts from when the argument BASE_IMAGE is not given.
const Base = "debian:bookworm-slim"

// InputsLabel is the image label that holds Build.Digest. An image carrying the
// digest of today's Build need not be built again.
const InputsLabel = "sandboxrun.inputs"

// Build is everything that goes into one agent image.
type Build struct {
	// BaseID is the engine's id of the base image, so that a newer base gives
	// another digest although its name stays.
	BaseID string
	// CABundle is PEM, the authorities trusted while building and in the box;
	// empty keeps those of the base image's distribution. See HostCABundle.
	CABundle []byte
	// Agents are the CLIs the image holds, in any order.
	Agents []Agent
	// Args are the build arguments, what HostArgs says among them. See Check.
	Args map[string]string
}
