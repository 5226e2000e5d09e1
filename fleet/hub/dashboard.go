package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// errNotFound reports that a dashboard has nothing at a path.
var errNotFound = errors.New("404 Not Found")

// get gets the document at a path of a robot's dashboard within limit, and at most so many
// bytes of it.
func (r Robot) get(ctx context.Context, limit time.Duration, most int64, query string, path ...string) (http.Header, []byte, error) {
	page, err := url.Parse(r.Page)
	if err != nil {
		return nil, nil, err
	}
	page = page.JoinPath(path...)
	page.RawQuery, page.Fragment = query, ""
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	// A redirection could lead to a host that the operator has not named.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(request)
	if err != nil {
		return nil, nil, inWords(r.Page, err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, most))
	switch reply.StatusCode {
	case http.StatusOK:
		return reply.Header, body, inWords(r.Page, err)
	case http.StatusNotFound:
		return nil, nil, fmt.Errorf("%s: %w", page, errNotFound)
	}
	const shown = 200 // bytes of a reason
	return nil, nil, fmt.Errorf("%s: %s: %s", page, reply.Status, bytes.TrimSpace(body[:min(len(body), shown)]))
}
