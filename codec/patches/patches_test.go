package patches

import (
	"slices"
	"strings"
	"testing"

	"player/codec"
)

// find returns the patches of a picture in which # is a pixel of the channel.
func find(r *Runs, picture string, skip func(codec.Blob) bool) []codec.Blob {
	r.Reset()
	for y, row := range strings.Fields(picture) {
		for x := 0; x < len(row); x++ {
			if row[x] != '#' {
				continue
			}
			first := x
			for x < len(row) && row[x] == '#' {
				x++
			}
			r.Add(y, first, x-1)
		}
	}
	return r.AppendBlobs(nil, skip)
}

func areas(blobs []codec.Blob) (list []int) {
	for _, b := range blobs {
		list = append(list, b.Area)
	}
	return list
}

func TestPatches(t *testing.T) {
	for picture, want := range map[string][2][]int{ // areas, with edges and with corners
		"":                              {},
		"...":                           {},
		"##. ##.":                       {{4}, {4}},
		"#.# ### ...":                   {{5}, {5}},
		"#.. .#. ..#":                   {{1, 1, 1}, {3}},
		"#.#.# #.#.# #####":             {{11}, {11}}, // joined below
		"##.## ..... ##.##":             {{2, 2, 2, 2}, {2, 2, 2, 2}},
		"##### #...# #.#.# #...# #####": {{16, 1}, {16, 1}},
		"..##. .#... ##...":             {{3, 2}, {5}},
	} {
		for i, diagonal := range []bool{false, true} {
			r := &Runs{Diagonal: diagonal}
			find(r, "##### ##### #####", nil) // of another picture
			if got := areas(find(r, picture, nil)); !slices.Equal(got, want[i]) {
				t.Errorf("%q, diagonal %v: %d, want %d", picture, diagonal, got, want[i])
			}
		}
	}
	blobs := find(new(Runs), "..## ..#. #..#", nil)
	if want := (codec.Blob{Area: 3, X: 2, Y: 0, Left: 2, Right: 3, Top: 0, Bottom: 1}); blobs[0] != want {
		t.Errorf("%+v, want %+v", blobs[0], want)
	}
	if blobs[1].Left != 0 || blobs[2].Left != 3 {
		t.Errorf("of one size: %+v", blobs[1:])
	}
	few := find(new(Runs), "##.# ##..", func(b codec.Blob) bool { return b.Area == 1 })
	if !slices.Equal(areas(few), []int{4}) {
		t.Errorf("with a skip: %+v", few)
	}
	many := find(new(Runs), strings.Repeat("#.", 20), nil)
	if len(many) != codec.MaxBlobs || many[0].Left != 0 {
		t.Errorf("%d blobs", len(many))
	}
}
