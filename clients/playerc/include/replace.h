/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of args.h, the options of many programs for Player 2 and 3, include this
 * file. What it had is part of every system now. */
