# Names of certificates, without a network. The suite of all languages has connections by TLS.

source [file join [file dirname [file normalize [info script]]] common.tcl]
package require player::secure

# For DNS localhost and *.Lab.example, IP 127.0.0.1, 65.66.67.68 and ::1, and two names of other kinds.
set several "-----BEGIN CERTIFICATE-----
MIIB7jCCAZOgAwIBAgIUe6TjgyQXJSlrwyTuLI9B++vCi/EwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY29tbW9uLmV4YW1wbGUwIBcNMjYxMTI0MDkzNjIyWhgPMjEy
NjEwMzEwOTM2MjJaMBkxFzAVBgNVBAMMDmNvbW1vbi5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEDCVC0pFKhsJ4pzLRN7OP6w3y4uFW4y8bp3SnP1Pq
Jtsjczhgz7WTu3J0JoTd/BoPVA8tidY7CZMAhFj9pbhJ4KOBtjCBszAdBgNVHQ4E
FgQUsH3AP1S1Z8m1r1CY/TxmnPfuHnUwHwYDVR0jBBgwFoAUsH3AP1S1Z8m1r1CY
/TxmnPfuHnUwDwYDVR0TAQH/BAUwAwEB/zBgBgNVHREEWTBXgglsb2NhbGhvc3SC
DSouTGFiLmV4YW1wbGWBC2FAYi5leGFtcGxlhwR/AAABhwRBQkNEhxAAAAAAAAAA
AAAAAAAAAAABhhBodHRwOi8veC5leGFtcGxlMAoGCCqGSM49BAMCA0kAMEYCIQDg
B/IdrYCVQABfG+Fe1E31q3bMrT7CRcNlNc5CIr9j6AIhAN6/OihogumYGmcSHVtu
otm8YpnZsg2CUN5aVf9oFt/c
-----END CERTIFICATE-----"

# For CN=common.example only.
set common "-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUNFVUe1bN1X71ErlEcVwH9rA9rRUwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY29tbW9uLmV4YW1wbGUwIBcNMjYxMTI0MDkzNjIyWhgPMjEy
NjEwMzEwOTM2MjJaMBkxFzAVBgNVBAMMDmNvbW1vbi5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAE+ws1IuqruXInMgS9L/z28LH8OwBXxD+K6rngRGJB
X6YfFFF+1f44fIA+mefQw5o5rT8yn6nOAWR66CynhQxKZqNTMFEwHQYDVR0OBBYE
FFOeWL6Y/leY0nnpG0Mt0g5F3LCmMB8GA1UdIwQYMBaAFFOeWL6Y/leY0nnpG0Mt
0g5F3LCmMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAMlJp+S5
Y1FtLCW2hG3VQSO2qdVtZZQf1oq+HamYvWNUAiEA5g49rRU3tMNtpirma2rUh3mn
Rl8f7rkm8gRTYU/X5XQ=
-----END CERTIFICATE-----"

test names-1 {DNS names and addresses} {
    lmap name [player::secure::Names $several] { player::secure::Shown {*}$name }
} {localhost *.Lab.example 127.0.0.1 65.66.67.68 00000000000000000000000000000001}

test names-2 {the common name of a subject is none} {
    player::secure::Names $common
} {}

test names-3 {a certificate that is cut off is an error, wherever} {
    regexp -- {-----BEGIN CERTIFICATE-----(.*)-----END} $several -> text
    set der [binary decode base64 $text]
    set taken {}
    for {set size 0} {$size < [string length $der]} {incr size} {
        set pem "-----BEGIN CERTIFICATE-----[binary encode base64 [string range $der 0 $size-1]]-----END CERTIFICATE-----"
        if {![catch {player::secure::Names $pem}]} {
            lappend taken $size
        }
    }
    return $taken
} {}

test names-4 {a certificate with wrong bytes has names, or is an error in words for people} {
    regexp -- {-----BEGIN CERTIFICATE-----(.*)-----END} $several -> text
    set der [binary decode base64 $text]
    for {set at 0} {$at < [string length $der]} {incr at} {
        foreach byte {0 127 128 132 255} {
            set wrong [string replace $der $at $at [binary format c $byte]]
            set pem "-----BEGIN CERTIFICATE-----[binary encode base64 $wrong]-----END CERTIFICATE-----"
            if {[catch {player::secure::Names $pem} text] && ![string match {the certificate *} $text]} {
                lappend others $text
            }
        }
    }
    info exists others
} 0

test names-5 {no PEM} -body {
    player::secure::Names "hello"
} -returnCodes error -result "the certificate is not PEM"

foreach {host matches} {
    localhost 1  LOCALHOST 1  localhost. 1  localhos 0  xlocalhost 0  "" 0
    r1.lab.example 1  R1.LAB.example 1  a.r1.lab.example 0  lab.example 0  .lab.example 0  *.lab.example 1
    127.0.0.1 1  127.0.0.2 0  127.0.0.1. 0  65.66.67.68 1  ::1 1  0:0:0:0:0:0:0:1 1  ::2 0  ::127.0.0.1 0
    common.example 0  b.example 0  x.example 0
} {
    test match-$host "a certificate for several names, and $host" {
        player::secure::Matches $host [player::secure::Names $several]
    } $matches
}

foreach {host names matches} {
    a.example {{dns *.example}} 0  a.b.example {{dns *.*.example}} 0  ab.c.example {{dns a*.c.example}} 0
    a.example {{dns "a.example\0.other.example"}} 0  1.2.3.4 {{dns 1.2.3.4}} 0  abcd {{ip abcd}} 0  97.98.99.100 {{ip abcd}} 1
} {
    test match-$host-$names "$names, and $host" {
        player::secure::Matches $host $names
    } $matches
}

foreach {host bytes} {
    127.0.0.1 7f000001  256.1.1.1 ""  1.2.3 ""  010.0.0.1 0a000001  :: 00000000000000000000000000000000
    1:2:3:4:5:6:7:8 00010002000300040005000600070008  1:2:3:4:5:6:7 ""  1:2:3:4:5:6:7:8:9 ""  1::2:3:4:5:6:7:8 ""
    ::ffff:1.2.3.4 00000000000000000000ffff01020304  ::1.2.3 ""  1:::2 ""  12345:: ""  g:: ""  fe80::1%eth0 fe800000000000000000000000000001
    localhost ""  "" ""
} {
    test address-$host "the bytes of $host" {
        binary encode hex [player::secure::Address $host]
    } $bytes
}

tcltest::cleanupTests
