package state

import (
	"encoding/json"
	"path/filepath"

	"github.com/google/renameio/v2"

	"sandboxrun/runner/document"
)

const (
	// imagesFile remembers which images hold which programs. An image never changes under its id.
	imagesFile = "images.json"
	// maxImages bounds the images it remembers.
	maxImages = 200
	// maxImagesFile bounds the file, in bytes.
	maxImagesFile = 1 << 20
)

// programs are the programs looked for in images, by the image's id and the program's name.
type programs map[string]map[string]bool

// Program says whether the image with an id holds a program; known is false when nobody has looked yet.
func (s *State) Program(image, name string) (holds, known bool) {
	holds, known = s.programs()[image][name]
	return holds, known
}

// SetProgram remembers what Program then says. Of two callers at the same time one may be forgotten: it only costs
// another look.
func (s *State) SetProgram(image, name string, holds bool) error {
	all := s.programs()
	if len(all) >= maxImages && all[image] == nil {
		all = programs{}
	}
	if all[image] == nil {
		all[image] = map[string]bool{}
	}
	all[image][name] = holds
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(s.Dir(), imagesFile), data, 0o600)
}

// programs reads the file. One that cannot be read knows nothing: it is only a memory of what can be looked up again.
func (s *State) programs() programs {
	all := programs{}
	data, err := document.ReadSmall(filepath.Join(s.Dir(), imagesFile), maxImagesFile)
	if err != nil || json.Unmarshal(data, &all) != nil || all == nil {
		return programs{}
	}
	return all
}
