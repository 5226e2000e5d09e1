package main

import (
	"os"

	"go.uber.org/zap"

	"player/lastwords"
	"player/logging"
	"player/reactor"
)

// isGuard reports whether a server has started this process as its guard.
func isGuard() bool { return os.Args[0] == lastwords.GuardName }

// guard is the program of a guard, whose standard input is the connection to the server.
func guard() {
	reactor.ReleasePools() // they would wake it
	lastwords.Guard(0, func(words, groups int) {
		log := logging.New(os.Stderr, false)
		log.Warn("the server has died: its guard stops motors and plugins", zap.Int("last words", words), zap.Int("programs", groups))
		_ = log.Sync() // it can fail only because nobody reads the log
	})
}
