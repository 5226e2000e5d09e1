package syntax_test

import (
	"fmt"

	"player/formats/syntax"
)

func ExampleParseFile() {
	f, err := syntax.ParseFile("testdata/yard.world", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, robot := range f.Global.Sections("position") {
		fmt.Println(
			robot.Name,
			robot.String("name", "robot"),
			robot.Lengths("size", 1, 1, 1),
			robot.Tuple("pose", "llla", 0, 0, 0, 0))
	}
	fmt.Println("bad values:", f.Err())
	fmt.Println(f.Unused()[0])
	// Output:
	// sentry South [0.4 0.3 0.2] [1.5 -0.205 0 1.5707963267948966]
	// sentry unnamed [0.5 0.3 0.2] [0 0 0 0]
	// bad values: <nil>
	// testdata/yard.world:8:1: field "title" is not used
	//     title "the yard"
	//     ^
}
