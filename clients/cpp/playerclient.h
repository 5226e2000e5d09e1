// SPDX-License-Identifier: Apache-2.0
//
// playerclient.h is crobot.hpp with its names also outside namespace player: a
// program of the Player manual compiles as it is.
#ifndef PLAYERCLIENT_H
#define PLAYERCLIENT_H

#include "crobot.hpp"

using namespace player;

#endif
