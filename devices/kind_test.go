package devices

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// quiet is a driver that is neither Commanded nor Configurer nor Ticker.
type quiet struct{ link *Link }

func (q *quiet) Setup(now time.Duration, l *Link) { q.link = l; l.Ready(now) }
func (q *quiet) Shutdown(now time.Duration)       { q.link.Stopped(now) }

// A command to a driver that takes none is accepted and shown to observers; a
// configuration is refused.
func TestDriverWithoutCommands(t *testing.T) {
	table := NewTable(zap.NewNop())
	attach(t, table, Instance{Driver: &quiet{}, Name: "quiet", Provides: []Spec{Position()}})
	d := table.Device(codec.Position)
	if err := d.Configure(ms, []byte("R")); !errors.Is(err, ErrNotOpen) {
		t.Errorf("configured while it is not open: %v", err)
	}
	subscribe(t, d, ms, new(person), false)
	d.SetCommand(ms, []byte("abcd"))
	if string(d.Command()) != "abcd" {
		t.Errorf("command %q", d.Command())
	}
	if err := d.Configure(ms, []byte("R")); !errors.Is(err, ErrNoConfiguration) {
		t.Errorf("configured: %v", err)
	}
}

func TestMake(t *testing.T) {
	limit, errNo := 7*time.Second, errors.New("no")
	fixed := Kind{Name: "fixed", Provides: []Spec{Laser()}, SetupLimit: limit, New: func(Args) (Driver, error) { return &quiet{}, nil }}
	free := fixed
	free.Provides = nil
	two := fixed
	two.New, two.NewAll = nil, func(Args) ([]Instance, error) {
		return []Instance{{}, {Name: "second", Provides: []Spec{Sonar()}, SetupLimit: time.Second, Port: 7000}}, nil
	}
	broken := fixed
	broken.New = func(Args) (Driver, error) { return nil, errNo }
	asked := Args{Name: "mine", Provides: []Spec{Position()}}
	for _, tt := range []struct {
		what string
		kind Kind
		want []Instance
	}{
		{"declared devices", fixed, []Instance{{Name: "mine", Provides: []Spec{Laser()}, SetupLimit: limit}}},
		{"any devices", free, []Instance{{Name: "mine", Provides: []Spec{Position()}, SetupLimit: limit}}},
		{"several drivers", two, []Instance{
			{Name: "mine", Provides: []Spec{Laser()}, SetupLimit: limit},
			{Name: "second", Provides: []Spec{Sonar()}, SetupLimit: time.Second, Port: 7000},
		}},
	} {
		got, err := tt.kind.Make(asked)
		if !slices.EqualFunc(got, tt.want, func(a, b Instance) bool {
			return a.Name == b.Name && slices.Equal(a.Provides, b.Provides) && a.SetupLimit == b.SetupLimit && a.Port == b.Port
		}) || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", tt.what, got, err, tt.want)
		}
	}
	if _, err := broken.Make(asked); err != errNo {
		t.Errorf("error %v", err)
	}
}

func TestSelect(t *testing.T) {
	declared := []Spec{Position(), Sonar(), Laser()}
	i := Instance{Provides: declared}
	i.Select([]Spec{Laser(), Position().At(2)})
	if want := []Spec{Position().At(2), Sonar().At(Hidden), Laser()}; !slices.Equal(i.Provides, want) {
		t.Errorf("provides %+v, want %+v", i.Provides, want)
	}
	if declared[0].Index != 0 {
		t.Error("the declaration was changed")
	}
	i = Instance{Provides: []Spec{Laser(), Ranger().At(Hidden), Laser().At(1), Laser().At(2)}}
	i.Select([]Spec{Laser().At(5), Ranger(), Laser()})
	if want := []Spec{Laser().At(5), Ranger(), Laser(), Laser().At(Hidden)}; !slices.Equal(i.Provides, want) {
		t.Errorf("of three lasers it provides %+v, want %+v", i.Provides, want)
	}
}
