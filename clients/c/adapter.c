/* SPDX-License-Identifier: Apache-2.0
 *
 * The adapter of the C client for the conformance suite (docs/CLIENTS.md).
 */
#include "player_simulation.h"

#include "json.h"

#ifdef WITH_TLS
#include "player_tls.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static player_client robot;

static const char *const kinds[] = {"", "refused", "timeout", "closed", "protocol", "usage"};

/* Ends an answer that has begun with "{" and perhaps members. */
static void finish(player_result r) {
  if (r == PLAYER_OK)
    printf("\"ok\":true}\n");
  else {
    printf("\"ok\":false,\"error\":\"%s\",\"text\":", kinds[r]);
    json_print(*robot.error ? robot.error : kinds[r]);
    printf("}\n");
  }
}

/* Prints why devices are refused. */
static void why(const char *pairs) {
  const char *comma = "";
  printf("\"why\":{");
  for (; *pairs; pairs += 2) {
    if (!*player_why(&robot, *pairs)) continue;
    printf("%s\"%c\":", comma, *pairs);
    json_print(player_why(&robot, *pairs));
    comma = ",";
  }
  printf("},");
}

static player_result request(const char *line) {
  char pairs[600];
  size_t i;
  player_result r;
  json_string(line, "pairs", pairs, sizeof pairs);
  r = player_request(&robot, pairs, json_int(line, "timeout_ms"));
  for (i = 1; i < strlen(pairs); i += 2)
    if (r == PLAYER_OK || r == PLAYER_REFUSED) pairs[i] = player_access(&robot, pairs[i - 1]);
  if (r == PLAYER_OK || r == PLAYER_REFUSED) printf("\"granted\":\"%s\",", pairs);
  if (r == PLAYER_REFUSED) why(pairs);
  return r;
}

static player_result read_round(const char *line) {
  player_result r = player_read(&robot, json_int(line, "timeout_ms"));
  const char *letter;
  printf("\"new\":\"");
  for (letter = "lspgmvzjy"; *letter; letter++)
    if (r == PLAYER_OK && player_new(&robot, *letter)) putchar(*letter);
  printf("\",");
  return r;
}

static void list(const char *name, const uint16_t *ranges, int n) {
  int i;
  printf("\"%s\":[", name);
  for (i = 0; i < n; i++) printf("%s%u", i ? "," : "", ranges[i]);
  printf("]");
}

static void data(char letter) {
  const player_client *c = &robot;
  int i, n;
  putchar('{');
  switch (letter) {
  case 'p':
    printf("\"time\":%lu,\"x\":%ld,\"y\":%ld,\"heading\":%u,\"speed\":%d,\"turnrate\":%d,\"compass\":%u,\"stall\":%u",
           (unsigned long)c->position.time, (long)c->position.x, (long)c->position.y, c->position.heading,
           c->position.speed, c->position.turnrate, c->position.compass, c->position.stall);
    break;
  case 's':
    list("ranges", c->sonar, PLAYER_SONARS);
    break;
  case 'l':
    list("ranges", c->laser, PLAYER_LASERS);
    break;
  case 'm':
    printf("\"front\":%u,\"rear\":%u,\"battery\":%u,\"voltage\":%u", c->misc.front, c->misc.rear, c->misc.battery, c->misc.voltage);
    break;
  case 'g':
    printf("\"state\":%u,\"beams\":%u", c->gripper.state, c->gripper.beams);
    break;
  case 'z':
    printf("\"pan\":%d,\"tilt\":%d,\"zoom\":%d", c->ptz.pan, c->ptz.tilt, c->ptz.zoom);
    break;
  case 'v':
    printf("\"channels\":[");
    for (n = 0; n < PLAYER_CHANNELS; n++) {
      printf("%s[", n ? "," : "");
      for (i = 0; i < c->vision.count[n]; i++) {
        const player_blob *b = &c->vision.blobs[n][i];
        printf("%s{\"color\":%d,\"area\":%lu,\"x\":%u,\"y\":%u,\"left\":%u,\"right\":%u,\"top\":%u,\"bottom\":%u}", i ? "," : "", n,
               (unsigned long)b->area, b->x, b->y, b->left, b->right, b->top, b->bottom);
      }
      printf("]");
    }
    printf("]");
    break;
  case 'j':
    printf("\"buttons\":%lu,\"axes\":[", (unsigned long)c->joystick.buttons);
    for (i = 0; i < PLAYER_AXES; i++) printf("%s%d", i ? "," : "", c->joystick.axes[i]);
    printf("]");
    break;
  case 'y':
    printf("\"time\":%llu,\"ages\":[", (unsigned long long)c->server_time_us);
    for (i = 0; i < c->age_count; i++) printf("%s%lu", i ? "," : "", (unsigned long)c->ages[i]);
    printf("]");
    break;
  }
  printf("},");
}

static player_result get(const char *line) {
  char device[8];
  uint64_t us;
  json_string(line, "device", device, sizeof device);
  printf("\"size\":%u,\"age_us\":", robot.devices[(uint8_t)device[0]].size);
  if (player_age_us(&robot, device[0], &us))
    printf("%llu,\"data\":", (unsigned long long)us);
  else
    printf("null,\"data\":");
  if (player_has(&robot, device[0]))
    data(device[0]);
  else
    printf("null,");
  return PLAYER_OK;
}

static player_result command(const char *line) {
  char device[8];
  int v[3] = {0, 0, 0};
  json_string(line, "device", device, sizeof device);
  json_ints(line, "values", v, 3);
  switch (device[0]) {
  case 'p':
    return player_set_speed(&robot, v[0], v[1]);
  case 'z':
    return player_set_ptz(&robot, v[0], v[1], v[2]);
  case 'g':
    return player_set_gripper(&robot, (uint8_t)v[0], (uint8_t)v[1]);
  }
  return PLAYER_USAGE;
}

static player_result config(const char *line) {
  char name[32], text[128];
  int value = json_int(line, "value");
  json_string(line, "name", name, sizeof name);
  if (!strcmp(name, "frequency")) return player_set_frequency(&robot, value);
  if (!strcmp(name, "lifetime")) return player_set_command_lifetime(&robot, value);
  if (!strcmp(name, "mode")) return player_set_request_reply(&robot, value != 0);
  if (!strcmp(name, "data")) return player_request_data(&robot);
  if (!strcmp(name, "fresh")) return player_set_fresh(&robot, value != 0);
  if (!strcmp(name, "motors")) return player_change_motor_state(&robot, value != 0);
  if (!strcmp(name, "velocity")) return player_change_velocity_control(&robot, value != 0);
  if (!strcmp(name, "name")) return json_string(line, "text", text, sizeof text), player_set_name(&robot, text);
  if (!strcmp(name, "stop")) return player_emergency_stop(&robot, value != 0);
  if (!strcmp(name, "reset_odometry")) return player_reset_position(&robot);
  return PLAYER_USAGE;
}

/* Prints a member that is a number. */
static void member(const char *name, double value) { printf(",\"%s\":%.17g", name, value); }

#ifdef WITH_TLS
/* Does what a request says of TLS. */
static player_result use_tls(player_client *c, const char *line) {
  static char authority[512], certificate[512], key[512], server[256];
  player_tls tls;
  json_string(line, "authority", authority, sizeof authority);
  json_string(line, "certificate", certificate, sizeof certificate);
  json_string(line, "key", key, sizeof key);
  json_string(line, "server", server, sizeof server);
  tls.authority = authority;
  tls.certificate = *certificate ? certificate : NULL;
  tls.key = *key ? key : NULL;
  tls.server_name = *server ? server : NULL;
  return player_use_tls(c, *authority ? &tls : NULL);
}
#else
static player_result use_tls(player_client *c, const char *line) {
  (void)c;
  return json_value(line, "authority") ? PLAYER_USAGE : PLAYER_OK;
}
#endif

static player_result simulate(const char *line) {
  static player_mover movers[10];
  static player_simulation world;
  char host[256];
  char order[2048];
  player_result r;
  int i, n;
  json_string(line, "host", host, sizeof host);
  world.host = host;
  world.port = json_int(line, "port");
  world.movers = movers;
  world.room = 10;
  if (use_tls(&world.line, line) != PLAYER_OK) return PLAYER_USAGE;
  r = player_simulation_order(&world, json_object(line, "order", order, sizeof order) ? order : NULL, json_int(line, "timeout_ms"));
  if (r != PLAYER_OK) {
    snprintf(robot.error, sizeof robot.error, "%s", world.error);
    return r;
  }
  printf("\"state\":{\"paused\":%s,\"finished\":%s,\"seed\":%llu", world.paused ? "true" : "false", world.finished ? "true" : "false",
         (unsigned long long)world.seed);
  member("time", world.time);
  member("speed", world.speed);
  printf(",\"movers\":[");
  for (i = 0; i < world.count; i++) {
    const player_mover *m = &movers[i];
    printf("%s{\"name\":", i ? "," : "");
    json_print(m->name);
    printf(",\"robot\":%s", m->robot ? "true" : "false");
    member("x", m->x);
    member("y", m->y);
    member("heading", m->heading);
    printf(",\"sees\":[");
    for (n = 0; n < m->seen; n++) {
      printf("%s{\"name\":", n ? "," : "");
      json_print(m->sees[n].name);
      printf(",\"id\":%d", m->sees[n].id);
      member("range", m->sees[n].range);
      member("bearing", m->sees[n].bearing);
      printf("}");
    }
    printf("]}");
  }
  printf("]},");
  return PLAYER_OK;
}

static player_result geometry(const char *line) {
  player_part parts[64];
  size_t i, count;
  player_result r = player_geometry(&robot, parts, 64, &count, json_int(line, "timeout_ms"));
  printf("\"parts\":[");
  for (i = 0; i < count; i++) {
    const player_part *p = &parts[i];
    printf("%s[\"%c\",%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", i ? "," : "", p->device, p->number, p->x, p->y, p->heading, p->length, p->width,
           p->range, p->view);
  }
  printf("],");
  return r;
}

static player_result carry_out(const char *line) {
  char op[16], host[256];
  json_string(line, "op", op, sizeof op);
  if (!strcmp(op, "connect")) {
    json_string(line, "host", host, sizeof host);
    if (use_tls(&robot, line) != PLAYER_OK) return PLAYER_USAGE;
    return player_connect(&robot, host, json_int(line, "port"), json_int(line, "timeout_ms"));
  }
  if (!strcmp(op, "reconnect")) return player_reconnect(&robot, json_int(line, "timeout_ms"));
  if (!strcmp(op, "request")) return request(line);
  if (!strcmp(op, "read")) return read_round(line);
  if (!strcmp(op, "get")) return get(line);
  if (!strcmp(op, "command")) return command(line);
  if (!strcmp(op, "config")) return config(line);
  if (!strcmp(op, "geometry")) return geometry(line);
  if (!strcmp(op, "simulation")) return simulate(line);
  if (!strcmp(op, "close")) return player_close(&robot), PLAYER_OK;
  return PLAYER_USAGE;
}

int main(void) {
  static char line[8192];
  while (fgets(line, sizeof line, stdin)) {
    putchar('{');
    *robot.error = 0;
    finish(carry_out(line));
    fflush(stdout);
  }
  return 0;
}
