package images

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

//go:embed Dockerfile.own
var ownStage []byte

//go:embed prepare.sh
var prepareScript string

//go:embed finish.sh
var finishScript string

const (
	// imageMark begins the last stage of the recipe, which an image of the user's replaces.
	imageMark = "# --- the image ----"
	// ownArg is the build argument that names the image of the user's.
	ownArg = "OWN_IMAGE"
)

// The repositories of images that are means to an end. Everything named so was made by this program.
const (
	// Parts are stages of recipes, which the engine keeps so that the next build is quick.
	Parts = "sandboxrun/part"
	// Bases are images that were built from a Dockerfile of the user's, without agents.
	Bases = "sandboxrun/base"
)

// Unfinished names what a build that failed had done, so that the next one goes on from there.
const Unfinished = Parts + ":unfinished"

// PartTag names the image of a stage of the recipe; "" stands for an unfinished one. Stages do not depend on the image
// of the user's, so all images have them in common.
func PartTag(stage string) string {
	if stage == "" {
		return Unfinished
	}
	return Parts + ":" + stage
}

// IsStage recognises the stage of an agent by its environment. Programs before this one gave stages no names.
func IsStage(env []string) bool {
	prefix := func(v string) bool { return strings.HasPrefix(v, "PREFIX=/opt/agents/") }
	return slices.ContainsFunc(env, prefix) && slices.Contains(env, "OUT=/out")
}

// onOwn puts the agents of a recipe on top of the image of the user's.
func (b Build) onOwn(text []byte) []byte {
	before, _, _ := bytes.Cut(text, []byte(imageMark))
	before = bytes.Replace(before, []byte("\nARG BASE_IMAGE="), []byte("\nARG "+ownArg+"\nARG BASE_IMAGE="), 1)
	var copies strings.Builder
	finish := []string{"/bin/sh", "-euc", finishScript, "finish"}
	for _, a := range b.sorted() {
		copies.WriteString(a.copyLine())
		finish = append(finish, a.Binary)
	}
	last := strings.NewReplacer(copiesMark, copies.String(),
		"@prepare@", jsonForm("/bin/sh", "-euc", prepareScript), "@finish@", jsonForm(finish...)).Replace(string(ownStage))
	return append(before, last...)
}

// ImageLabel holds the name an image was built with. Images that others make from it inherit its labels, under other names.
const ImageLabel = "sandboxrun.image"

// Labels of images that say what they were made from, for people who list them.
const (
	// FromLabel holds the base as the user named it.
	FromLabel = "sandboxrun.from"
	// BaseOfLabel marks the image of a Dockerfile of the user's, and holds the name of the image made from it.
	BaseOfLabel = "sandboxrun.base-of"
)

// BaseTag names the image of a Dockerfile from which the image called tag is made.
func BaseTag(tag string) string { return Bases + ":" + slug(tag, 100) }

// BaseStageTag names a stage of that Dockerfile.
func BaseStageTag(tag, stage string) string { return BaseTag(tag) + "." + slug(stage, 20) }

// slug writes a name with the characters a tag may have, in a bounded length and without confusing two names.
func slug(name string, limit int) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	if plain == name && len(plain) <= limit {
		return plain
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), limit)] + "_" + hex.EncodeToString(sum[:4])
}

// Predefined returns those of args that every builder accepts, which configure the network.
func Predefined(args map[string]string) map[string]string {
	out := maps.Clone(args)
	maps.DeleteFunc(out, func(name, _ string) bool { return !slices.Contains(predefined, name) })
	return out
}
