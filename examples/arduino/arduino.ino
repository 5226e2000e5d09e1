// A robot with two driven wheels, three ultrasonic sensors and a bumper, for the driver
// "lines" with config/examples/arduino.cfg. Adapt the pins and the two constants.
//
// It sends lines of text at 115200 baud:
//   O LEFT RIGHT   20 times a second: counts of the encoders since power-up
//   S A B C        10 times a second: distances in cm, front left, front, front right
//   K BITS         when the bumper changes, and once a second: 1 is pressed
//   B MILLIVOLT    once a second: the battery
// It obeys:
//   V LEFT RIGHT   speeds of the wheels in mm/s
//   E 1, E 0       motors on, off
// Without a V for half a second it stops: the computer may hang.

const float MM_PER_COUNT = 0.45;     // as in config/examples/arduino.cfg
const float PWM_PER_MM_S = 0.6;      // how much the motors need for a speed
const unsigned long WATCHDOG = 500;  // ms

const int ENCODER[2] = {2, 3}, DIRECTION[2] = {4, 7}, PWM[2] = {5, 6};
const int TRIGGER[3] = {8, 9, 10}, ECHO[3] = {A1, A2, A3};
const int BUMPER = 11, BATTERY = A0;

volatile long counts[2];
int speeds[2];  // mm/s, as commanded
bool enabled = true;
unsigned long heard, odometryAt, sonarAt, secondAt;
int bumper = -1, sonar, distances[3];
char line[32];
byte size;

void count(int wheel) { counts[wheel] += speeds[wheel] < 0 ? -1 : 1; }
void countLeft() { count(0); }
void countRight() { count(1); }

void turn(int wheel, int speed) {
  speeds[wheel] = speed;
  digitalWrite(DIRECTION[wheel], speed < 0);
  analogWrite(PWM[wheel], enabled ? min(255, int(abs(speed) * PWM_PER_MM_S)) : 0);
}

void stopMotors() {
  turn(0, 0);
  turn(1, 0);
}

void setup() {
  Serial.begin(115200);
  for (int i = 0; i < 2; i++) {
    pinMode(ENCODER[i], INPUT_PULLUP);
    pinMode(DIRECTION[i], OUTPUT);
    pinMode(PWM[i], OUTPUT);
  }
  for (int i = 0; i < 3; i++) {
    pinMode(TRIGGER[i], OUTPUT);
    pinMode(ECHO[i], INPUT);
  }
  pinMode(BUMPER, INPUT_PULLUP);
  attachInterrupt(digitalPinToInterrupt(ENCODER[0]), countLeft, RISING);
  attachInterrupt(digitalPinToInterrupt(ENCODER[1]), countRight, RISING);
  stopMotors();
}

void obey() {
  int left, right;
  if (sscanf(line, "V %d %d", &left, &right) == 2) {
    turn(0, left);
    turn(1, right);
    heard = millis();
  } else if (sscanf(line, "E %d", &left) == 1) {
    enabled = left != 0;
    stopMotors();
  }
}

void listen() {
  while (Serial.available()) {
    char c = Serial.read();
    if (c == '\n') {
      line[size] = 0;
      obey();
      size = 0;
    } else if (size < sizeof line - 1) {
      line[size++] = c;
    }
  }
}

// measure fires one sonar: 20 ms at most, so that commands are heard in time.
void measure(int i) {
  digitalWrite(TRIGGER[i], HIGH);
  delayMicroseconds(10);
  digitalWrite(TRIGGER[i], LOW);
  unsigned long echo = pulseIn(ECHO[i], HIGH, 20000);
  distances[i] = echo ? echo / 58 : 350;
}

void report() {
  unsigned long now = millis();
  if (now - odometryAt >= 50) {
    odometryAt = now;
    noInterrupts();
    long left = counts[0], right = counts[1];
    interrupts();
    Serial.print("O ");
    Serial.print(left);
    Serial.print(' ');
    Serial.println(right);
  }
  if (now - sonarAt >= 33) {
    sonarAt = now;
    measure(sonar);
    if (++sonar == 3) {
      sonar = 0;
      Serial.print("S ");
      Serial.print(distances[0]);
      Serial.print(' ');
      Serial.print(distances[1]);
      Serial.print(' ');
      Serial.println(distances[2]);
    }
  }
  bool second = now - secondAt >= 1000;
  int pressed = !digitalRead(BUMPER);
  if (second || pressed != bumper) {
    bumper = pressed;
    Serial.print("K ");
    Serial.println(bumper);
  }
  if (second) {
    secondAt = now;
    Serial.print("B ");
    Serial.println(analogRead(BATTERY) * 15L);  // a divider of 1:3 at 5 V
  }
}

void loop() {
  listen();
  if (millis() - heard > WATCHDOG) stopMotors();
  report();
}
