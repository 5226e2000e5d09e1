package blobs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"player/formats/syntax"
)

// ReadColors reads the colours of a file: sections in the grammar of configuration files, in
// any order.
//
//	color ( name "ball" channel 0 hue [350 12] saturation [50 100] value [30 100] )
//
// The error has the places of all mistakes.
func ReadColors(path string) ([]Color, error) {
	file, err := syntax.ParseFile(path, nil)
	if err != nil {
		return nil, err
	}
	colors, err := colorsOf(file)
	if err != nil {
		return nil, err
	}
	return colors, nil
}

func colorsOf(file *syntax.File) (colors []Color, err error) {
	for _, s := range file.Global.Sections("color") {
		c := Color{Name: s.String("name", ""), Channel: s.Int("channel", -1)}
		if strings.ContainsAny(c.Name, "\"\n\r") {
			err = file.Join(err, s.Errorf("name", "a name has no quotes"))
		}
		for _, r := range []struct {
			name string
			most int
			to   *Range
		}{{"hue", 359, &c.Hue}, {"saturation", 100, &c.Saturation}, {"value", 100, &c.Value}} {
			bounds := s.Floats(r.name, 0, float64(r.most))
			bad := len(bounds) != 2
			for _, v := range bounds {
				bad = bad || v != float64(int(v)) || v < 0 || v > float64(r.most)
			}
			if bad || r.name != "hue" && bounds[0] > bounds[1] {
				err = file.Join(err, s.Errorf(r.name, "%s needs the least and the most, whole numbers from 0 to %d", r.name, r.most))
				continue
			}
			*r.to = Range{int(bounds[0]), int(bounds[1])}
		}
		if mistake := check(append(colors, c)); mistake != nil {
			err = file.Join(err, s.Errorf("channel", "%v", mistake))
		}
		colors = append(colors, c)
	}
	for _, unused := range file.Unused() {
		err = file.Join(err, unused)
	}
	return colors, file.Join(file.Err(), err)
}

// WriteColors writes a file that ReadColors reads. A reader gets the complete old file or the
// complete new one.
func WriteColors(path string, colors []Color) error {
	var out bytes.Buffer
	fmt.Fprintln(&out, "# Colours that are looked for: hue in degrees, saturation and value in percent.")
	for _, c := range colors {
		fmt.Fprintf(&out, "color ( name %s channel %d hue [%d %d] saturation [%d %d] value [%d %d] )\n",
			syntax.Quote(c.Name), c.Channel, c.Hue.Low, c.Hue.High, c.Saturation.Low, c.Saturation.High, c.Value.Low, c.Value.High)
	}
	next, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // fails when it has its name
	_, err = next.Write(out.Bytes())
	if err == nil {
		err = next.Chmod(0o644) // as an editor would
	}
	if closed := next.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
