package dashboard

import (
	"os"
	"testing"

	"player/e2e/waiting"
)

func TestMain(m *testing.M) { os.Exit(waiting.Run(m, 8)) }
