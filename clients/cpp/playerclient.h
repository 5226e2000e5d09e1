// SPDX-License-Identifier: Apache-2.0
//
// playerclient.h is player.hpp with its names also outside namespace player: a
// program of the Player manual compiles as it is.
#ifndef PLAYERCLIENT_H
#define PLAYERCLIENT_H

#include "player.hpp"

using namespace player;

#endif
