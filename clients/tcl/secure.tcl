# TLS for the client of the Player robot server. player::Connect loads it for a robot with tls,authority, and it loads
# Tcl's package tls, which compares no names: that is done here. tls 1.7, of Debian 12, does not even return the names
# of a certificate, so they are read from it here; tls 1.8 returns them as text, which would be a second way to the same
# names.

package require Tcl 8.6-
package require tls
package provide player::secure 1.1.0

namespace eval player::secure {
    variable ALTERNATIVE \x55\x1d\x11 ;# the object identifier of subjectAltName, 2.5.29.17 (RFC 5280, 4.2.1.6)
}

# Start makes a channel of TLS of a robot's connected socket.
proc player::secure::Start {robot deadline} {
    upvar #0 $robot r
    upvar #0 player::private private
    foreach field {authority certificate key server} {
        set $field [expr {[info exists r(tls,$field)] ? $r(tls,$field) : ""}]
    }
    foreach file [list $authority $certificate $key] {
        if {$file ne "" && ![file readable $file]} {
            throw {PLAYER USAGE} "TLS: \"$file\" cannot be read"
        }
    }
    set host [expr {$server eq "" ? $r(host) : $server}]
    set options [list -cafile $authority -request 1 -require 1 -tls1 0 -tls1.1 0]
    lappend options -command [list [namespace current]::Report $robot [expr {$certificate ne ""}]]
    if {$certificate ne ""} {
        lappend options -certfile $certificate -keyfile $key
    }
    if {[Address $host] eq ""} { ;# addresses are no names of servers (RFC 6066, 3)
        lappend options -servername $host
    }
    set private($robot,reason) ""
    set chan $private($robot,chan)
    try {
        ##nagelfar ignore Unknown command
        ::tls::import $chan {*}$options
    } on error {text} {
        throw {PLAYER USAGE} "TLS: $text"
    }
    try {
        ##nagelfar ignore Unknown command
        while {![::tls::handshake $chan]} {
            player::Wait $robot readable [player::Left $robot $deadline]
        }
        Check $chan $host
    } trap PLAYER {text options} {
        return -options $options $text
    } on error {text} {
        if {$private($robot,reason) ne ""} {
            set text $private($robot,reason)
        }
        throw {PLAYER CLOSED} "no connection to $r(host):$r(port) by TLS: $text"
    }
}

# Report is called by OpenSSL, and keeps why a connection fails. certified reports whether this client shows a certificate.
# Its result decides about the server's certificate: OpenSSL's own verdict stands.
proc player::secure::Report {robot certified event args} {
    upvar #0 player::private private
    switch -- $event {
        verify {
            lassign $args - - - valid text
            if {!$valid} {
                set private($robot,reason) "the server's certificate is refused: $text"
            }
            return $valid
        }
        info {
            lassign $args - major minor text
            if {$major eq "alert" && $minor eq "read" && $text ne "close notify"} {
                # OpenSSL has no words for one alert of TLS 1.3, certificate required.
                set none "; this client shows no certificate, which may be required"
                set private($robot,reason) "the server says: $text[expr {$certified ? "" : $none}]"
            }
        }
    }
    return
}

# Check is an error unless the certificate of the other side is for the host.
proc player::secure::Check {chan host} {
    ##nagelfar ignore Unknown command
    set status [::tls::status $chan]
    if {![dict exists $status certificate]} {
        error "the server has no certificate"
    }
    set names [Names [dict get $status certificate]]
    if {![Matches $host $names]} {
        set valid [lmap name $names { Shown {*}$name }]
        error "the certificate is valid for [expr {$valid eq "" ? "no name" : [join $valid ", "]}], which does not match $host"
    }
}

# Names returns the alternative names of a certificate in PEM: a list of pairs, dns and a name or ip and the bytes of an
# address. The subject's common name is none (RFC 6125, 6.4.4). It is an error if the certificate makes no sense.
proc player::secure::Names {pem} {
    variable ALTERNATIVE
    if {![regexp -- {-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----} $pem -> text]} {
        error "the certificate is not PEM"
    }
    set der [binary decode base64 $text]
    set names {}
    lassign [Element $der 0] - begin end
    lassign [lindex [Elements $der $begin $end 1] 0] - begin end ;# what is signed
    foreach part [Elements $der $begin $end] {
        lassign $part tag begin end
        if {$tag != 0xA3} { ;# extensions
            continue
        }
        lassign [Element $der $begin] - begin end
        foreach extension [Elements $der $begin $end] {
            lassign $extension - begin end
            set parts [Elements $der $begin $end 1]
            lassign [lindex $parts 0] - begin end
            if {[string range $der $begin $end-1] ne $ALTERNATIVE} {
                continue
            }
            lassign [lindex $parts end] - begin
            lassign [Element $der $begin] - begin end
            foreach name [Elements $der $begin $end] {
                lassign $name tag begin end
                set value [string range $der $begin $end-1]
                switch -- $tag {
                    130 { lappend names [list dns $value] }
                    135 { lappend names [list ip $value] }
                }
            }
        }
    }
    return $names
}

# Element returns the tag of the element of DER that begins at a byte, and where its content begins and ends.
proc player::secure::Element {der at} {
    if {[binary scan $der @${at}cucu tag size] != 2} {
        error "the certificate is cut off"
    }
    incr at 2
    if {$size >= 0x80} {
        set bytes [expr {$size - 0x80}]
        if {$bytes < 1 || $bytes > 3 || [binary scan $der @${at}cu$bytes digits] != 1} {
            error "the certificate has an element without a size"
        }
        set size 0
        foreach digit $digits {
            set size [expr {$size << 8 | $digit}]
        }
        incr at $bytes
    }
    if {$at + $size > [string length $der]} {
        error "the certificate is cut off"
    }
    return [list $tag $at [expr {$at + $size}]]
}

# Elements returns the elements between two bytes. Fewer than least are an error.
proc player::secure::Elements {der at end {least 0}} {
    set elements {}
    while {$at < $end} {
        lappend elements [Element $der $at]
        set at [lindex $elements end 2]
    }
    if {[llength $elements] < $least} {
        error "the certificate has an empty element"
    }
    return $elements
}

# Matches reports whether one of the names is the name of the host. An asterisk is one whole label, the first one, of at
# least three (RFC 6125, 6.4.3).
proc player::secure::Matches {host names} {
    set address [Address $host]
    set host [string tolower [string trimright $host .]]
    regexp {^[^.]+(\..+\..+)$} $host -> domain
    foreach name $names {
        lassign $name kind value
        if {$kind eq "ip"} {
            set same [expr {$address ne "" && $value eq $address}]
        } else {
            set value [string tolower $value]
            set same [expr {$address eq "" && ($value eq $host || [info exists domain] && $value eq "*$domain")}]
        }
        if {$same} {
            return 1
        }
    }
    return 0
}

# Address returns the bytes of an address of version 4 or 6, or "" for a name. A zone is not part of it.
proc player::secure::Address {host} {
    if {[regexp {^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$} $host -> a b c d]} {
        set bytes [lmap byte [list $a $b $c $d] { scan $byte %d }]
        return [expr {[tcl::mathfunc::max {*}$bytes] > 255 ? "" : [binary format c4 $bytes]}]
    }
    regsub {%.*$} $host "" host
    if {[regexp {^(.*:)([\d.]+\.\d+)$} $host -> head tail]} { ;# version 4 at its end
        if {[binary scan [Address $tail] SuSu high low] != 2} {
            return ""
        }
        set host $head[format %x:%x $high $low]
    }
    if {![regexp {^[0-9a-fA-F:]*:[0-9a-fA-F:]*$} $host]} {
        return ""
    }
    set gap [string first :: $host]
    set left [expr {$gap < 0 ? $host : [string range $host 0 $gap-1]}]
    set right [expr {$gap < 0 ? "" : [string range $host $gap+2 end]}]
    set left [expr {$left eq "" ? {} : [split $left :]}]
    set right [expr {$right eq "" ? {} : [split $right :]}]
    set missing [expr {8 - [llength $left] - [llength $right]}]
    if {$missing < 0 || ($gap < 0) != ($missing == 0)} {
        return ""
    }
    set groups [concat $left [lrepeat $missing 0] $right]
    foreach group $groups {
        if {![regexp {^[0-9a-fA-F]{1,4}$} $group]} {
            return ""
        }
    }
    return [binary format S8 [lmap group $groups { scan $group %x }]]
}

# Shown returns a name of a certificate for people.
proc player::secure::Shown {kind value} {
    if {$kind eq "dns"} {
        return [regsub -all {[^ -~]} $value ?]
    }
    if {[string length $value] == 4} {
        binary scan $value cu4 bytes
        return [join $bytes .]
    }
    return [binary encode hex $value]
}
