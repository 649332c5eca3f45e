// Package images holds the recipe of the agent image, writes the agents into it, and turns it into the input of an
// engine's build call: a context, build arguments and a digest that shows whether an existing image is still up to
// date. It calls no engine and knows no particular agent.
package images

import _ "embed"

//go:embed Dockerfile.agent
var recipe []byte

// Name is the name of the image this package describes.
const Name = "sandboxrun/agent"

// Base is the base image of Name without the argument BASE_IMAGE.
const Base = "debian:bookworm-slim"

// InputsLabel is the image label that holds Build.Digest. An image with the digest of the current Build need not be
// built again.
const InputsLabel = "sandboxrun.inputs"

// Build is everything that goes into one agent image.
type Build struct {
	// BaseID is the engine's id of the base image, so that a newer base of the same name changes the digest.
	BaseID string
	// Own is the engine's id of an image of the user's that the agents are put on top of; "" makes the image from the
	// base. It is the value of the argument OWN_IMAGE then.
	Own string
	// CABundle is PEM, the authorities trusted while building and in the box; empty keeps those of the base image's
	// distribution. See HostCABundle.
	CABundle []byte
	// Agents are the CLIs the image holds, in any order.
	Agents []Agent
	// Args are the build arguments, including those of HostArgs. See Check.
	Args map[string]string
}
