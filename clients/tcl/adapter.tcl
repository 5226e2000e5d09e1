# The adapter of the Tcl client for the conformance suite (docs/CLIENTS.md): JSON lines on stdin and stdout.

lappend auto_path [file dirname [file normalize [info script]]]
package require player
package require player::simulation

# parse returns the members of a request as a dict: requests are flat, and their values are strings, integers or lists
# of integers.
proc parse {line} {
    set request {
        timeout_ms 0 value 0 values {} pairs "" device "" name "" access "" text "" authority "" certificate "" key ""
        server ""
    }
    foreach {all name string number list} [regexp -all -inline {"(\w+)"\s*:\s*(?:"([^"]*)"|(-?\d+)|\[([^\]]*)\])} $line] {
        dict set request $name $string$number[string map {, " "} $list]
    }
    return $request
}

proc quote {text} {
    set quoted ""
    foreach c [split $text ""] {
        scan $c %c code
        append quoted [expr {$code < 32 || $code > 126 || $c in {\" \\} ? [format {\u%04x} $code] : $c}]
    }
    return "\"$quoted\""
}

proc numbers {list} {
    return "\[[join $list ,]\]"
}

proc object {args} {
    set members {}
    foreach {name value} $args {
        lappend members "\"$name\":$value"
    }
    return "{[join $members ,]}"
}

# simulate reads the state of a simulation, or changes it. Its order is the only nested member of a request.
proc simulate {line} {
    set request [player::simulation::Parse $line]
    set options [list -timeout [dict get $request timeout_ms]]
    foreach field {authority certificate key server} {
        if {[dict exists $request $field]} {
            lappend options -$field [dict get $request $field]
        }
    }
    if {[dict exists $request order]} {
        dict for {name value} [dict get $request order] {
            if {$name eq "move"} {
                set value [concat {*}[lmap m $value {
                    list [dict get $m name] [list [dict get $m x] [dict get $m y] [dict get $m heading]]
                }]]
            }
            lappend options -$name $value
        }
    }
    set state [player::Simulation [dict get $request host]:[dict get $request port] {*}$options]
    set movers {}
    dict for {name mover} [dict get $state movers] {
        set sees {}
        if {[dict exists $mover sees]} {
            foreach s [dict get $mover sees] {
                lappend sees [object {*}[dict replace [dict filter $s key id range bearing] name [quote [dict get $s name]]]]
            }
        }
        lappend movers [object name [quote $name] {*}[dict replace [dict filter $mover key robot x y heading] sees [numbers $sees]]]
    }
    return [object {*}[dict replace [dict filter $state key time speed paused finished seed] movers [numbers $movers]]]
}

# perform obeys a request and returns the members of the answer.
proc perform {request} {
    global robot connected opened
    dict with request {}
    if {$op eq "connect"} {
        set robot(timeout) $timeout_ms
        foreach field {authority certificate key server} {
            set robot(tls,$field) [set $field]
        }
        player::Connect robot $host $port
        set connected 1
        set opened {}
        return ""
    }
    if {!$connected} {
        throw {PLAYER USAGE} "not connected"
    }
    set robot(timeout) $timeout_ms
    switch -- $op {
        reconnect {
            player::Reconnect robot
        }
        request {
            return [list granted [quote [player::Request robot $pairs]]]
        }
        geometry {
            set parts {}
            foreach part [player::Geometry robot] {
                set values [lassign [dict values $part] device]
                lappend parts [numbers [list [quote $device] {*}$values]]
            }
            return [list parts [numbers $parts]]
        }
        read {
            player::Read robot
            set letters ""
            foreach device {l s p g m v z j y} {
                append letters [expr {[player::IsNew robot $device] ? $device : ""}]
            }
            dict for {device code} $opened {
                append letters [expr {$code ni {l s p} && [player::IsNew robot $device] ? $code : ""}]
            }
            return [list new [quote $letters]]
        }
        devices {
            set list {}
            foreach entry [player::Devices robot] {
                lappend list [numbers [list [quote [dict get $entry name]] [scan [dict get $entry device] %c]]]
            }
            return [list devices [numbers $list]]
        }
        open {
            set code [player::Open robot $name $access]
            dict set opened $name $code
            return [list code [scan $code %c]]
        }
        rays {
            set list {}
            foreach ray [player::Rays robot] {
                set values [lassign [dict values $ray] device]
                lappend list [numbers [list [quote $device] {*}$values]]
            }
            return [list rays [numbers $list]]
        }
        channels {
            set list {}
            foreach channel [player::Channels robot] {
                lassign [dict values $channel] device number role unit least most text
                lappend list [numbers [list [quote $device] $number [quote $role] [quote $unit] $least $most \
                    [quote $text]]]
            }
            return [list channels [numbers $list]]
        }
        colors {
            set list {}
            foreach color [player::Colors robot] {
                lassign [dict values $color] device channel rgb
                lappend list [numbers [list [quote $device] $channel [expr {"0x[string range $rgb 1 end]"}]]]
            }
            return [list colors [numbers $list]]
        }
        get {
            set age [player::Age robot $device]
            return [list size [string length [player::Raw robot $device]] age_us [expr {$age eq "" ? "null" : $age}] \
                data [expr {[player::Has robot $device] ? [data $device] : "null"}]]
        }
        command {
            lassign [concat $values 0 0 0] a b c
            switch -glob -- $device {
                p { player::SetSpeed robot $a $b }
                z { player::SetPTZ robot $a $b $c }
                g { player::GripperCommand robot $a $b }
                io:* { player::SetOutput robot $device $a $b }
                servo:* {
                    if {$a == $player::ALL_JOINTS && $b == $player::UNKNOWN} {
                        player::StopJoints robot $device
                    } else {
                        player::MoveJoint robot $device $a $b $c
                    }
                }
                goto:* {
                    if {$a == $player::UNKNOWN} {
                        player::StopGoal robot $device
                    } else {
                        set names {x y heading speed turnrate tolerance radius tag}
                        player::SetGoal robot [concat {*}[lmap n $names v $values { list $n $v }]] $device
                    }
                }
                default { throw {PLAYER USAGE} "device \"$device\" takes no command" }
            }
        }
        config {
            switch -- $name {
                frequency { player::SetFrequency robot $value }
                lifetime { player::SetCommandLifetime robot $value }
                mode { player::SetDataMode robot [lindex {CONTINUOUS REQUESTREPLY} $value] }
                data { player::RequestData robot }
                fresh { player::SetFresh robot $value }
                motors { player::ChangeMotorState robot $value }
                velocity { player::ChangeVelocityControl robot [lindex {DIRECTWHEELVELOCITY SEPARATETRANSROT} $value] }
                name { player::SetName robot $text }
                stop { player::EmergencyStop robot $value }
                reset_odometry { player::ResetPosition robot }
                default { throw {PLAYER USAGE} "unknown configuration \"$name\"" }
            }
        }
        close {
            player::Close robot
            set connected 0
        }
        default {
            throw {PLAYER USAGE} "unknown op \"$op\""
        }
    }
    return ""
}

# fields returns elements of a device, whose names in the suite have endings.
proc fields {device endings} {
    global robot
    set members {}
    foreach {name ending} $endings {
        lappend members $name$ending $robot($device,$name)
    }
    return [object {*}$members]
}

proc data {device} {
    global robot
    switch -glob -- $device {
        laser:* { return [object ranges [numbers $robot($device)]] }
        ranger:* { return [object unit_mm $robot($device,unit) ranges [numbers $robot($device,ranges)]] }
        imu:* {
            return [fields $device {
                roll _mdeg pitch _mdeg yaw _mdeg roll_rate _mdeg_per_s pitch_rate _mdeg_per_s yaw_rate _mdeg_per_s
                x _mm_per_s2 y _mm_per_s2 z _mm_per_s2
            }]
        }
        gps:* {
            return [fields $device {
                fix "" satellites "" latitude _e7 longitude _e7 height _mm horizontal _mm vertical _mm time _ms
                speed _mm_per_s course _mdeg
            }]
        }
        io:* { return [object values [numbers $robot($device,values)]] }
        servo:* {
            set joints {}
            foreach joint $robot($device,joints) {
                lappend joints [object {*}$joint]
            }
            return [object joints [numbers $joints]]
        }
        goto:* {
            return [object state [lsearch -exact $player::gotoStates $robot($device,state)] reason $robot($device,reason) \
                tag $robot($device,tag) x_mm $robot($device,x) y_mm $robot($device,y) heading_deg $robot($device,heading) \
                distance_mm $robot($device,distance)]
        }
        p {
            return [object time $robot(position,time) x $robot(position,xpos) y $robot(position,ypos) \
                heading $robot(position,heading) speed $robot(position,speed) turnrate $robot(position,turnrate) \
                compass $robot(position,compass) stall $robot(position,stalls)]
        }
        s { return [object ranges [numbers $robot(sonar)]] }
        l { return [object ranges [numbers $robot(laser)]] }
        m {
            return [object front $robot(misc,frontbumpers) rear $robot(misc,rearbumpers) battery $robot(misc,battery) \
                voltage $robot(misc,voltage)]
        }
        g {
            set bit 1
            set bits 0
            foreach name {paddlesOpen paddlesClose paddlesMoving paddlesError liftUp liftDown liftMoving liftError \
                    gripLimitReached liftLimitReached outerBeamObstructed innerBeamObstructed leftPaddleOpen rightPaddleOpen} {
                incr bits [expr {$bit * $robot(gripper,$name)}]
                set bit [expr {2 * $bit}]
            }
            return [object state [expr {$bits & 255}] beams [expr {$bits >> 8}]]
        }
        z { return [object pan $robot(ptz,pan) tilt $robot(ptz,tilt) zoom $robot(ptz,zoom)] }
        v {
            set channels {}
            foreach blobs $robot(vision,Blobs) {
                set objects {}
                foreach blob $blobs {
                    lappend objects [object color [llength $channels] {*}$blob]
                }
                lappend channels [numbers $objects]
            }
            return [object channels [numbers $channels]]
        }
        j { return [object buttons $robot(joystick,buttons) axes [numbers $robot(joystick,axes)]] }
        y {
            binary scan [player::Raw robot y] WuIu* time ages
            return [object time $time ages [numbers $ages]]
        }
    }
    return "{}"
}

chan configure stdout -buffering line
set connected 0
while {[gets stdin line] >= 0} {
    try {
        if {[string match {*"op":"simulation"*} $line]} {
            set answer [object ok true state [simulate $line]]
        } else {
            set answer [object ok true {*}[perform [parse $line]]]
        }
    } trap {PLAYER} {text options} {
        lassign [dict get $options -errorcode] _ kind granted reasons
        set why {}
        dict for {device reason} $reasons {
            lappend why $device [quote [join $reason " "]]
        }
        set answer [object ok false error [quote [string tolower $kind]] text [quote $text] \
            {*}[expr {$kind eq "REFUSED" ? [list granted [quote $granted] why [object {*}$why]] : ""}]]
    }
    puts $answer
}
