module player

go 1.26.0

require (
	github.com/daedaluz/goserial v0.0.0-20230529113020-53c95a6aeb5a
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/panjf2000/gnet/v2 v2.10.0
	go.uber.org/zap v1.28.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/daedaluz/fdev v0.0.0-20220808131950-36f0c6fd4b51 // indirect
	github.com/daedaluz/goioctl v0.0.0-20211206100409-83a7ad26457f // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/sync v0.11.0 // indirect
	gopkg.in/natefinch/lumberjack.v2 v2.2.1 // indirect
)
