package reactor

import "go.uber.org/zap"

// engineLog passes on what gnet has to say, one level more quietly: its
// greeting is not ours.
type engineLog struct{ *zap.SugaredLogger }

func (l engineLog) Infof(format string, args ...any) { l.SugaredLogger.Debugf(format, args...) }
