package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"player/fleet/bridge"
)

const (
	// balancePeriod is the time between two checks of the buckets' leaders.
	balancePeriod = 2 * time.Second
	// steadySamples is how many samples in a row a node must have been ready before it is made a
	// leader. A node whose network was cut reports at once that it is ready, but answers late at
	// first: robots far from the fault stood for 0.9 s. Until then, the loss of another node
	// stops two groups.
	steadySamples = 4
	// balancer is hashed as if it were a robot: the bridge that would serve it balances. No
	// robot has this name.
	balancer = "leaders of buckets"
)

// Leases returns the name of the stream of NATS that has the leases of a group of robots.
func Leases(fleet string, group int) string { return "KV_" + bridge.Bucket(fleet, group) }

// openLeases opens the buckets, and makes those that do not exist.
func (h *hub) openLeases(ctx context.Context, js jetstream.JetStream) error {
	leader, err := h.nats.JetStream(nats.Domain(h.Domain))
	if err != nil {
		return err
	}
	for group := range h.leases {
		config := jetstream.KeyValueConfig{
			Bucket:         bridge.Bucket(h.Fleet, group),
			Description:    fmt.Sprintf("leases of the robots of group %d of the fleet %s", group+1, h.Fleet),
			LimitMarkerTTL: bridge.TTL, // without it the bucket has no TTL for a key
			Replicas:       h.Replicas,
		}
		subjects := "$KV." + config.Bucket + "."
		writes := subjects
		if h.Domain != "" { // leaf nodes do not pass on writes to a bucket, but this
			writes = "$JS." + h.Domain + ".API." + subjects
		}
		err := h.whenReady(ctx, "bucket "+config.Bucket+" for leases", func(ctx context.Context) error {
			kv, err := js.CreateOrUpdateKeyValue(ctx, config)
			b := bucket{js: js, kv: kv, leader: leader, stream: Leases(h.Fleet, group), subjects: subjects, writes: writes}
			h.leases[group] = leases{clock: h.clock, self: h.Bridge, store: b}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// balance keeps the leaders of the buckets on different nodes, until ctx ends. A leader that
// steps down hands over at once; elections after the loss of a node do not consider the other
// buckets that the winner leads.
func (h *hub) balance(ctx context.Context, js jetstream.JetStream) {
	tick := time.NewTicker(balancePeriod)
	defer tick.Stop()
	for samples := map[follower]int{}; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !h.balances.Load() {
			clear(samples)
			continue
		}
		group, node, ok := bridge.Spread(steady(samples, h.led(ctx, js)))
		if !ok {
			continue
		}
		name := Leases(h.Fleet, group)
		if err := h.stepDown(ctx, name, node); err != nil {
			h.Log.Warn("the leaders of the leases stay on one node", zap.String("stream", name), zap.String("wanted", node), zap.Error(err))
			continue
		}
		h.Log.Info("another node leads leases", zap.String("stream", name), zap.String("node", node))
	}
}

// follower is a node that could lead the bucket of a group.
type follower struct {
	group int
	node  string
}

// steady returns the buckets with the nodes that were ready for them in the last samples, which it
// counts.
func steady(samples map[follower]int, buckets []bridge.Led) []bridge.Led {
	for f := range samples {
		if !slices.Contains(buckets[f.group].Ready, f.node) {
			delete(samples, f)
		}
	}
	for group, b := range buckets {
		for _, node := range b.Ready {
			samples[follower{group, node}]++
		}
		buckets[group].Ready = slices.DeleteFunc(b.Ready, func(node string) bool { return samples[follower{group, node}] < steadySamples })
	}
	return buckets
}

// led returns the leaders of the buckets, and the nodes that could lead them.
func (h *hub) led(ctx context.Context, js jetstream.JetStream) []bridge.Led {
	all := make([]bridge.Led, bridge.Groups)
	for group := range all {
		ctx, cancel := context.WithTimeout(ctx, balancePeriod/bridge.Groups)
		stream, err := js.Stream(ctx, Leases(h.Fleet, group))
		cancel()
		if err != nil || stream.CachedInfo().Cluster == nil {
			break // leaders are moved only while all of them are known
		}
		cluster := stream.CachedInfo().Cluster
		all[group].Leader = cluster.Leader
		for _, r := range cluster.Replicas {
			if r.Current && !r.Offline {
				all[group].Ready = append(all[group].Ready, r.Name)
			}
		}
	}
	return all
}

// stepDown makes another node lead a stream.
func (h *hub) stepDown(ctx context.Context, stream, node string) error {
	api := "$JS.API"
	if h.Domain != "" {
		api = "$JS." + h.Domain + ".API"
	}
	ctx, cancel := context.WithTimeout(ctx, balancePeriod)
	defer cancel()
	body := mustJSON(map[string]any{"placement": map[string]string{"preferred": node}})
	m, err := h.nats.RequestWithContext(ctx, api+".STREAM.LEADER.STEPDOWN."+stream, body)
	if err != nil {
		return err
	}
	var answer struct {
		Success bool
		Error   struct{ Description string }
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return err
	}
	if !answer.Success {
		return errors.New(answer.Error.Description)
	}
	return nil
}
