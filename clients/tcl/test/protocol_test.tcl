# The bytes of a connection in pieces of every size, and every payload at its limits (PROTOCOL 1.4, 2, 3, 7, 8).
source [file join [file dirname [file normalize [info script]]] common.tcl]

# fresh makes the robot one that has received nothing.
proc fresh {} {
    upvar #0 robot robot
    array unset robot
    array unset player::private
    player::Reset ::robot
}

# rounds feeds bytes in pieces of the given sizes, the last for the rest, and returns the letters of each round.
proc rounds {bytes args} {
    fresh
    set rounds {}
    set at 0
    while {$at < [string length $bytes]} {
        set piece [lindex $args 0]
        if {[llength $args] > 1} {
            set args [lrange $args 1 end]
        }
        player::Append ::robot [string range $bytes $at [expr {$at + $piece - 1}]]
        incr at $piece
        while {[set event [player::Next ::robot]] ne ""} {
            if {$event eq "round"} {
                set letters ""
                foreach device {Q X l m p s y z} {
                    append letters [expr {[player::IsOfRound ::robot $device] ? $device : ""}]
                }
                lappend rounds $letters
            }
        }
    }
    return $rounds
}

# everywhere returns the rounds of bytes, and each different result of the bytes in equal pieces and cut at every byte.
proc everywhere {bytes} {
    set size [string length $bytes]
    set results [list [rounds $bytes $size]]
    for {set n 1} {$n < 9} {incr n} {
        lappend results [rounds $bytes $n]
    }
    for {set cut 1} {$cut < $size} {incr cut} {
        lappend results [rounds $bytes $cut $size]
    }
    return [lsort -unique $results]
}

foreach {name bytes want} [list \
    "in the order of the request" [reply zrprlr]$Z$P$L$Z$P$L {lpz lpz} \
    "incremental opening" [reply lr]$L$L[reply sr]$L$S[reply pr]$L$S$P {l l ls lps} \
    "a closed device" [reply srprzr]$S$P$Z[reply sc]$P$Z {psz pz} \
    "write only between" [reply srpwzr]$S$Z[reply pa]$S$P$Z {sz psz} \
    "failed between" [reply srqepr]$S$P {ps} \
    "a round that broke off" [reply srpr]$S$S$P {ps} \
    "a reply within a round" [reply srprmr]$S[reply sc]$P$M {mp} \
    "blocks without data" [reply srpr][block s ""]$P[block s ""][block p ""] {ps ps} \
    "unknown letters" [reply XrQr][block X "\7"][block Q ""][block X ""][block Q "\1\2"] {QX QX} \
    "a block that was not asked for" [reply sr]$L$S$S {s s} \
    "with y" [reply sryrpr][y 16 1 2]$S$P[y 32 1 -1]$S[block p ""] {psy psy} \
    "only y" [reply yr][y 16][y 32] {y y} \
    "only what is new" [reply yrsrpr][y 16 1]$S[y 32 2]$P {sy py} \
    "y closed again" [reply yrsr][y 16 1]$S[reply yc]$S {sy s} \
] {
    test rounds-$name "in one piece, in small pieces and cut at every byte" [list everywhere $bytes] [list $want]
}

test largest-message "the buffer is bounded" {
    fresh
    set bytes [reply Xr][block X [string repeat 7 65535]][block X [string repeat 8 65535]]
    set rounds 0
    set largest 0
    for {set at 0} {$at < [string length $bytes]} {incr at $player::CHUNK} {
        player::Append ::robot [string range $bytes $at [expr {$at + $player::CHUNK - 1}]]
        set largest [expr {max($largest, [string length $player::private(::robot,buffer)])}]
        while {[set event [player::Next ::robot]] ne ""} {
            incr rounds [expr {$event eq "round"}]
        }
    }
    list $rounds [expr {$largest <= 2 * 65536 + 3}]
} {2 1}

test wrong-block "it is an error, the device has no data, and the next block is read correctly" {
    fresh
    player::Append ::robot [reply srpr]$S$P[block s [string repeat \0 31]]$P$S$P
    set events {}
    foreach i {1 2 3 4 5 6 7} {
        set event ""
        set kind [kind {set event [player::Next ::robot]}]
        lappend events [expr {$kind eq "none" ? $event : $kind}]
        lappend valid [expr {[info exists player::private(::robot,valid,s)] && $player::private(::robot,valid,s)}]
    }
    list $events $valid
} {{reply block round PROTOCOL round block round} {0 1 1 0 0 1 1}}

test wrong-freshness "y missing, y of one byte, y of no byte" {
    fresh
    player::Append ::robot [reply yrsr]$S[block y "\0"][block y ""][y 32 5]$S
    player::Next ::robot
    foreach i {1 2 3} {
        lappend kinds [kind {player::Next ::robot}]
    }
    list $kinds [player::Next ::robot] [player::Next ::robot] $player::private(::robot,taken,s)
} {{PROTOCOL PROTOCOL PROTOCOL} block round 27}

test access "what is open, in the order of first opening" {
    fresh
    player::Append ::robot [reply srpwlrpe][reply scpalr][reply zrlc]
    foreach i {1 2 3} {
        player::Next ::robot
        lappend open $player::private(::robot,wanted)
    }
    list $open $player::private(::robot,readers)
} {{srlr palr pazr} 2}

test noise "random messages are never more than a PROTOCOL error" {
    fresh
    expr {srand(1)}
    set kinds {}
    for {set i 0} {$i < 2000} {incr i} {
        set letter [string index plsmgvzjyrX [expr {int(rand() * 11)}]]
        set payload ""
        for {set n [expr {int(rand() * 80)}]} {$n > 0} {incr n -1} {
            append payload [format %c [expr {int(rand() * 256)}]]
        }
        player::Append ::robot [block $letter $payload]
        set event more
        while {$event ne ""} {
            lappend kinds [kind {set event [player::Next ::robot]}]
        }
    }
    lsort -unique $kinds
} {PROTOCOL none}

# Payloads.

# decoded returns the elements of the robot that match pattern, after a payload.
proc decoded {device payload pattern} {
    fresh
    player::Decode ::robot $device $payload
    set values {}
    foreach name [lsort [array names ::robot $pattern]] {
        lappend values [lindex [split $name ,] 1] $::robot($name)
    }
    return $values
}

test position-greatest "position" {
    decoded p [hex "FFFFFFFF 7FFFFFFF 7FFFFFFF FFFF 7FFF 7FFF FFFF FF"] position,*
} {compass 65535 heading 65535 speed 32767 stalls 255 time 4294967295 turnrate 32767 xpos 2147483647 ypos 2147483647}

test position-least "position" {
    decoded p [hex "00000000 80000000 80000000 0000 8000 8000 0000 00"] position,*
} {compass 0 heading 0 speed -32768 stalls 0 time 0 turnrate -32768 xpos -2147483648 ypos -2147483648}

test position-fields "each at its place" {
    decoded p [hex "00000001 00000002 FFFFFFFD 0004 0005 FFFA 0007 01"] position,*
} {compass 7 heading 4 speed 5 stalls 1 time 1 turnrate -6 xpos 2 ypos -3}

test sonar "unsigned" {
    decoded s [hex 0000FFFF8000[string repeat 0001 13]] sonar
    set robot(sonar)
} [concat 0 65535 32768 [lrepeat 13 1]]

test laser "unsigned" {
    decoded l [hex 1FFF[string repeat 0002 359]FFFF] laser
    list [llength $robot(laser)] [lindex $robot(laser) 0] [lindex $robot(laser) 180] [lindex $robot(laser) 360]
} {361 8191 2 65535}

test misc "bumpers and battery" {
    decoded m [hex "1F 10 FF"] misc,*
} {battery 255 frontbumpers 31 rearbumpers 16 voltage 255}

test gripper "each bit alone" {
    set names {}
    for {set bit 0} {$bit < 16} {incr bit} {
        set set {}
        foreach {name value} [decoded g [binary format s [expr {1 << $bit}]] gripper,*] {
            if {$value} {
                lappend set $name
            }
        }
        lappend names $set
    }
    set names
} {paddlesOpen paddlesClose paddlesMoving paddlesError liftUp liftDown liftMoving liftError gripLimitReached\
    liftLimitReached outerBeamObstructed innerBeamObstructed leftPaddleOpen rightPaddleOpen {} {}}

test ptz "limits" {
    concat [decoded z [hex "FF9C 0019 03FF"] ptz,*] [decoded z [hex "0064 FFE7 0000"] ptz,*]
} {pan -100 tilt 25 zoom 1023 pan 100 tilt -25 zoom 0}

test joystick "buttons unsigned, axes signed" {
    decoded j [hex "80000001 8001 7FFF 0000 0001 FFFF 0000 0000 0000"] joystick,*
} {axes {-32767 32767 0 1 -1 0 0 0} buttons 2147483649}

test freshness "time and ages unsigned" {
    decoded y [hex "0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"] server,*
    list $robot(server,time) $player::private(::robot,ages)
} {81985529216486895 {250 4294967295 4294967294 0}}

set blob [hex "40404040 FFFF FFFF FFFF"] ;# every value at its limit
set small [hex "01010103 0203 0405 0607"]
set none [hex [string repeat 01 64]]
set one [hex 0102[string repeat 0201 31]]

test vision-none "an image without blobs" {
    player::Vision $none
} [list [lrepeat 32 0] [lrepeat 32 {}]]

test vision-two "in the first and the last channel" {
    lassign [player::Vision [hex 0102[string repeat 0201 30]0202]$blob$small] counts blobs
    list [lindex $counts 0] [lindex $counts 30] [lindex $counts 31] [lindex $blobs 0] [lindex $blobs 31]
} [list 1 0 1 {{area 16777215 x 254 y 254 left 254 right 254 top 254 bottom 254}} \
    {{area 2 x 1 y 2 left 3 right 4 top 5 bottom 6}}]

test vision-full "320 blobs: the index stops at 254" {
    set header ""
    for {set c 0} {$c < 32} {incr c} {
        append header [binary format cc [expr {min(10 * $c, 254) + 1}] 11]
    }
    lassign [player::Vision $header[string repeat $blob 319]$small] counts blobs
    list [lindex $counts 31] [lindex $blobs 31 9 1]
} {10 2}

foreach {name payload} [list \
    "one blob too few" $one \
    "one blob too many" $none$blob \
    "half a blob" $one[hex 0101010101] \
    "11 blobs" [hex 010C[string repeat 0C01 31]][string repeat $blob 11] \
    "no count" [hex 0100[string repeat 0101 31]] \
    "wrong index" [hex 0201[string repeat 0101 31]] \
    "area digit above 63" $one[hex "01010141 0101 0101 0101"] \
    "area digit of zero" $one[hex "01000101 0101 0101 0101"] \
    "zero in a blob" $one[hex "01010101 0101 0101 0100"] \
    "short header" [string range $none 1 end] \
    "one byte" "\1" \
] {
    test vision-$name "a wrong image" [list kind [list player::Vision $payload]] PROTOCOL
}

foreach {device size} {p 21 s 32 l 722 m 3 g 2 z 6 j 20} {
    test sizes-$device "every other size is an error" {
        set kinds {}
        foreach wrong [list [expr {$size - 1}] $size [expr {$size + 1}] 65535] {
            lappend kinds [kind {player::Decode ::robot $device [string repeat \1 $wrong]}]
        }
        set kinds
    } {PROTOCOL none PROTOCOL PROTOCOL}
}

test sizes-y "8 plus 4 for each age" {
    set legal {}
    for {set size 0} {$size < 30} {incr size} {
        if {[kind {player::Decode ::robot y [string repeat \1 $size]}] eq "none"} {
            lappend legal $size
        }
    }
    set legal
} {8 12 16 20 24 28}

tcltest::cleanupTests
