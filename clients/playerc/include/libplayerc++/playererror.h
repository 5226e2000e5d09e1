// SPDX-License-Identifier: Apache-2.0
#ifndef PLAYERERROR_H
#define PLAYERERROR_H

#include <stdint.h>

#include <ostream>
#include <string>

namespace PlayerCc {

// PlayerError is thrown when a call does not succeed.
class PlayerError {
  std::string mStr, mFun;
  int32_t mCode;

public:
  PlayerError(const std::string aFun = "", const std::string aStr = "", const int32_t aCode = -1) : mStr(aStr), mFun(aFun), mCode(aCode) {}

  std::string GetErrorStr() const { return mStr; }  // a sentence
  std::string GetErrorFun() const { return mFun; }  // the function that failed
  int32_t GetErrorCode() const { return mCode; }
};

inline std::ostream &operator<<(std::ostream &os, const PlayerError &e) {
  return os << e.GetErrorFun() << "(" << e.GetErrorCode() << ") : " << e.GetErrorStr();
}

}  // namespace PlayerCc

#endif
