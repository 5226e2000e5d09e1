package visitors

// Notice is an error with a text for people.
type Notice struct {
	Text  string
	Cause error // for the log; may be nil
}

// Error returns the text for the log.
func (n Notice) Error() string {
	if n.Cause == nil {
		return n.Text
	}
	return n.Text + ": " + n.Cause.Error()
}

func (n Notice) Unwrap() error { return n.Cause }
