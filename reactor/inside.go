package reactor

import (
	"errors"
	"net"
	"reflect"

	"github.com/panjf2000/gnet/v2"
)

// inside has the private fields of gnet that the loop uses. gnet always polls every connection for
// input, and has no function that adds or closes a listener. So its epoll and its table of
// listeners are found by reflection. TestGnetInside checks the assumptions about them.
type inside struct {
	epoll   epoll
	sockets reflect.Value // map[int]*listener, by descriptor
}

// insideOf finds the epoll and the listeners of gnet's event loop.
func insideOf(events gnet.EventLoop) (inside, error) {
	if loop := reflect.ValueOf(events); loop.Kind() == reflect.Pointer {
		poller, listeners := loop.Elem().FieldByName("poller"), loop.Elem().FieldByName("listeners")
		if poller.IsValid() && listeners.IsValid() {
			if fd := poller.Elem().FieldByName("fd"); fd.IsValid() {
				return inside{epoll(fd.Int()), settable(listeners)}, nil
			}
		}
	}
	return inside{}, errors.New("the epoll of this version of gnet is not found")
}

// settable returns a value by which an unexported field of gnet can be set.
func settable(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
}

// listening returns the descriptors of gnet's listeners.
func (i inside) listening() (all []int) {
	for _, fd := range i.sockets.MapKeys() {
		all = append(all, int(fd.Int()))
	}
	return all
}

// add adds a listener to gnet's table. gnet closes its descriptor at the end.
func (i inside) add(fd int, local net.Addr) {
	added := reflect.New(i.sockets.Type().Elem().Elem())
	settable(added.Elem().FieldByName("fd")).SetInt(int64(fd))
	settable(added.Elem().FieldByName("network")).SetString("tcp")
	settable(added.Elem().FieldByName("addr")).Set(reflect.ValueOf(local))
	i.sockets.SetMapIndex(reflect.ValueOf(fd), added)
}

// remove removes a listener from gnet's table. Its descriptor becomes 0, which gnet does not
// close: another file may have got the number by then.
func (i inside) remove(fd int) {
	key := reflect.ValueOf(fd)
	settable(i.sockets.MapIndex(key).Elem().FieldByName("fd")).SetInt(0)
	i.sockets.SetMapIndex(key, reflect.Value{})
}
